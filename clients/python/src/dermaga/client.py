"""The client."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from .operations import Operations
from .transport import Call, Session, Transport
from .types import Login, LoginRole, SignedIn

if TYPE_CHECKING:
    from typing_extensions import Self


class Dermaga(Operations):
    """A client of one Dermaga service. Can be used by several threads.

    :param base_url: the address of the service, such as `https://api.example.com`.
    :param session: a session from an earlier sign-in. Without one, calls are those of a guest.
    :param on_session: called when the session changes, to store it.
    :param language: of messages.
    :param timeout: seconds to wait for each part of an answer. The service ends a request after 60
        seconds and answers with an error; the default lets that answer arrive.
    :param retries: how often a request is sent again at most.
    :param backoff: seconds before the first retry; each further one waits twice as long.
    :param max_wait: a request that would have to wait longer than these seconds is not sent again.
    :param ssl_context: for certificates that the system does not know.
    """

    def __init__(
        self,
        base_url: str,
        *,
        session: Session | None = None,
        on_session: Callable[[Session | None], None] | None = None,
        language: Literal["en", "id"] = "en",
        timeout: float = 65.0,
        retries: int = 3,
        backoff: float = 0.5,
        max_wait: float = 30.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._transport = Transport(
            base_url,
            session=session,
            on_session=on_session,
            language=language,
            timeout=timeout,
            retries=retries,
            backoff=backoff,
            max_wait=max_wait,
            ssl_context=ssl_context,
        )
        super().__init__(self._transport)

    @property
    def session(self) -> Session | None:
        """The current session; `None` for a guest."""
        return self._transport.session

    def sign_in(
        self,
        email: str,
        password: str,
        *,
        role: LoginRole = "any",
        code: str | None = None,
        remember: bool = False,
    ) -> SignedIn:
        """Signs in. All further calls are those of the account.

        `code` is that of a second factor: without it, an account that has one is refused with
        `second_factor_required`. With `remember`, the session is renewed when it has ended.
        """
        login: Login = {"email": email, "password": password, "role": role}
        if code is not None:
            login["code"] = code
        signed_in = self.accounts.login(login)
        session = Session(signed_in["access_token"])
        self._transport.session = session
        if remember:
            remembered = self.accounts.remember_me({"email": email})
            self._transport.session = Session(
                session.access_token, email, remembered.get("remember_token")
            )
        return signed_in

    def sign_out(self) -> None:
        """Ends the session. Further calls are those of a guest."""
        session = self.session
        if session is None:
            return
        headers = {}
        if session.remember_token:
            headers["X-Remember-Token"] = session.remember_token
        self._transport.data(Call("POST", "/v1/auth/logout", repeat="change", headers=headers))
        self._transport.session = None

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
