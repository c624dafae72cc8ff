"""Failures between the client and the service."""

from __future__ import annotations

import queue
import threading
import time
import unittest
import uuid
from dataclasses import replace
from typing import Any

from support import (
    ADMIN,
    CUT_STREAM,
    HANG,
    LOSE_ANSWER,
    LOSE_REQUEST,
    PARTNER,
    PASSWORD,
    Proxy,
    Reply,
    ServiceTest,
    booking_form,
    refusal,
)

from dermaga import (
    ApiError,
    Dermaga,
    NetworkError,
    NotFoundError,
    OutcomeUnknownError,
    RateLimitedError,
    RequestTimeoutError,
    Session,
    UnauthenticatedError,
    UnavailableError,
    types,
)


class ProxyTest(ServiceTest):
    def setUp(self) -> None:
        self.proxy = Proxy()
        self.addCleanup(self.proxy.close)

    def behind_proxy(self, **settings: Any) -> Dermaga:
        """A guest."""
        return self.guest(self.proxy.url, **{"backoff": 0.01, **settings})

    def admin_behind_proxy(self, **settings: Any) -> Dermaga:
        session = self.signed_in().session
        return self.behind_proxy(session=session, **settings)


class Reads(ProxyTest):
    def test_are_repeated(self) -> None:
        self.proxy.faults = [LOSE_REQUEST, Reply(502, b"<h1>Bad gateway</h1>"), LOSE_ANSWER]
        self.assertGreater(len(self.behind_proxy().routes.list_locations()), 0)
        self.assertEqual(len(self.proxy.seen), 4)

    def test_by_post_are_repeated(self) -> None:
        self.proxy.faults = [LOSE_ANSWER]
        self.assertTrue(booking_form(self.behind_proxy()))
        self.assertEqual(len(self.proxy.seen), 2)

    def test_are_given_up(self) -> None:
        self.proxy.faults = [LOSE_REQUEST] * 5
        with self.assertRaises(NetworkError):
            self.behind_proxy(retries=2).routes.list_locations()
        self.assertEqual(len(self.proxy.seen), 3)

    def test_an_error_is_not_repeated(self) -> None:
        self.proxy.faults = [refusal(500, "internal")]
        with self.assertRaises(ApiError) as caught:
            self.behind_proxy().routes.list_locations()
        self.assertEqual((caught.exception.status, caught.exception.request_id), (500, "r-1"))
        self.assertEqual(len(self.proxy.seen), 1)

    def test_an_answer_in_other_words(self) -> None:
        self.proxy.faults = [Reply(403, b"<h1>Forbidden</h1>"), Reply(200, b"<h1>Welcome</h1>")]
        client = self.behind_proxy()
        for code in ("http_403", "http_200"):
            with self.assertRaises(ApiError) as caught:
                client.routes.list_locations()
            self.assertEqual(caught.exception.code, code)

    def test_time_out(self) -> None:
        self.proxy.faults = [HANG, HANG]
        client = self.behind_proxy(retries=0)
        started = time.monotonic()
        with self.assertRaises(RequestTimeoutError):
            client.routes.list_locations(timeout=0.2)
        self.assertLess(time.monotonic() - started, 2)
        self.assertGreater(len(self.behind_proxy(timeout=0.2).routes.list_locations()), 0)


class Waiting(ProxyTest):
    def test_retry_after(self) -> None:
        self.proxy.faults = [refusal(429, "too_many_requests", Retry_After="1")]
        started = time.monotonic()
        self.behind_proxy().routes.list_locations()
        self.assertGreaterEqual(time.monotonic() - started, 1)

    def test_is_given_up_if_it_takes_too_long(self) -> None:
        self.proxy.faults = [refusal(429, "too_many_requests", Retry_After="900")]
        with self.assertRaises(RateLimitedError) as caught:
            self.behind_proxy().routes.list_locations()
        self.assertEqual(caught.exception.retry_after, 900)
        self.assertEqual(len(self.proxy.seen), 1)

    def test_grows(self) -> None:
        self.proxy.faults = [LOSE_REQUEST] * 3
        started = time.monotonic()
        self.behind_proxy(backoff=0.2).routes.list_locations()
        # Between one half and all of 0.2 + 0.4 + 0.8 seconds.
        self.assertGreaterEqual(time.monotonic() - started, 0.7)


class ChangesWithKey(ProxyTest):
    def setUp(self) -> None:
        super().setUp()
        self.form = booking_form(self.guest())
        self.client = self.behind_proxy()

    def keys(self) -> set[str | None]:
        return {seen.headers.get("Idempotency-Key") for seen in self.proxy.seen}

    def assert_one_booking(self, booking: types.Booking) -> None:
        found = self.signed_in().bookings.list(search=self.form["contact"]["email"]).items
        self.assertEqual([one["id"] for one in found], [booking["id"]])

    def test_a_lost_answer_makes_one_booking(self) -> None:
        self.proxy.faults = [LOSE_ANSWER]
        booking = self.client.bookings.create(self.form)
        self.assertEqual((len(self.proxy.seen), len(self.keys())), (2, 1))
        self.assert_one_booking(booking)

    def test_the_first_attempt_is_still_running(self) -> None:
        self.proxy.faults = [LOSE_REQUEST, refusal(409, "idempotency_in_progress")]
        booking = self.client.bookings.create(self.form)
        self.assertEqual((len(self.proxy.seen), len(self.keys())), (3, 1))
        self.assert_one_booking(booking)

    def test_an_unknown_outcome(self) -> None:
        self.proxy.faults = [refusal(503, "outcome_unknown")]
        self.assert_one_booking(self.client.bookings.create(self.form, idempotency_key="mine"))
        self.assertEqual(self.keys(), {"mine"})


class ChangesWithoutKey(ProxyTest):
    def setUp(self) -> None:
        super().setUp()
        self.client = self.admin_behind_proxy()
        self.name = f"Pelabuhan {uuid.uuid4().hex}"
        self.form: types.NewHarbour = {"name": self.name, "timezone": "Asia/Makassar"}

    def test_a_lost_answer_is_an_error(self) -> None:
        self.proxy.faults = [LOSE_ANSWER]
        with self.assertRaises(NetworkError):
            self.client.harbours.create(self.form)
        self.assertEqual(len(self.proxy.seen), 1)
        # It was carried out.
        self.assertEqual(len(self.client.harbours.list(search=self.name).items), 1)

    def test_an_unknown_outcome_is_an_error(self) -> None:
        self.proxy.faults = [refusal(503, "outcome_unknown")]
        with self.assertRaises(OutcomeUnknownError):
            self.client.harbours.create(self.form)
        self.assertEqual(len(self.proxy.seen), 1)

    def test_the_503_of_a_proxy_is_an_error(self) -> None:
        self.proxy.faults = [Reply(503, b"<h1>Maintenance</h1>")]
        with self.assertRaises(UnavailableError):
            self.client.harbours.create(self.form)
        self.assertEqual(len(self.proxy.seen), 1)

    def test_a_refusal_is_repeated(self) -> None:
        self.proxy.faults = [
            refusal(429, "too_many_requests", Retry_After="0"),
            refusal(503, "unavailable", Retry_After="0"),
        ]
        self.assertEqual(self.client.harbours.create(self.form)["name"], self.name)
        self.assertEqual(len(self.proxy.seen), 3)
        self.assertNotIn("Idempotency-Key", self.proxy.seen[0].headers)


class Connections(ProxyTest):
    def test_one_that_the_service_has_closed_is_not_used(self) -> None:
        client = self.guest()
        client.service.live()
        [(_, connection)] = client._transport._connections._idle
        connection.sock.shutdown(2)
        # A change without a key: it would fail on a lost connection.
        client.bookings.find({"email": "nobody@example.com"})

    def test_one_is_used_again(self) -> None:
        client = self.guest()
        for _ in range(3):
            client.service.live()
        self.assertEqual(len(client._transport._connections._idle), 1)


class Pages(ProxyTest):
    def test_more_than_the_service_counts(self) -> None:
        def page(number: int, items: list[int]) -> Reply:
            pagination: types.Pagination = {
                "page": number,
                "page_size": 2,
                "total_items": 2,
                "total_pages": 1,
                "total_is_minimum": True,
            }
            return Reply(200, {"data": items, "pagination": pagination})

        self.proxy.faults = [page(1, [1, 2]), page(2, [3, 4]), page(3, [])]
        items: list[Any] = list(self.behind_proxy().harbours.list(search="a").all())
        self.assertEqual(items, [1, 2, 3, 4])
        self.assertEqual(self.proxy.seen[2].target, "/v1/harbours?page=3&search=a")


class Paths(ProxyTest):
    def test_an_id_stays_one_segment(self) -> None:
        client = self.behind_proxy()
        with self.assertRaises(NotFoundError):
            client.bookings.get("../users?é", code="A&B", email="a+b@example.com")
        expected = "/v1/booking/..%2Fusers%3F%C3%A9?code=A%26B&email=a%2Bb%40example.com"
        self.assertEqual(self.proxy.seen[0].target, expected)
        for id in ("", ".."):
            with self.assertRaises(ValueError):
                client.bookings.get(id)


class Renewal(ProxyTest):
    def remembered(self) -> Session:
        client = self.guest()
        client.sign_in(ADMIN, PASSWORD, remember=True)
        session = client.session
        assert session and session.remember_token
        return session

    def test_a_session_that_has_ended(self) -> None:
        session = self.remembered()
        changes: list[Session | None] = []
        client = self.behind_proxy(
            session=replace(session, access_token="ended"), on_session=changes.append
        )
        self.assertEqual(client.accounts.get_profile()["email"], ADMIN)
        targets = [seen.target for seen in self.proxy.seen]
        self.assertEqual(targets, ["/user/me", "/auth/remember-me", "/user/me"])
        self.assertEqual(changes, [client.session])
        renewed = client.session
        assert renewed
        self.assertNotIn(renewed.remember_token, (None, session.remember_token))
        client.sign_out()

    def test_once_for_all_threads(self) -> None:
        client = self.behind_proxy(session=replace(self.remembered(), access_token="ended"))
        found: list[str] = []

        def call() -> None:
            found.append(client.accounts.get_profile()["email"])

        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [ADMIN] * 4)
        renewals = [seen for seen in self.proxy.seen if seen.target == "/auth/remember-me"]
        self.assertEqual(len(renewals), 1)

    def test_a_device_that_is_forgotten(self) -> None:
        client = self.behind_proxy(session=Session("ended", ADMIN, "forgotten"))
        with self.assertRaises(UnauthenticatedError):
            client.accounts.get_profile()
        self.assertIsNone(client.session)

    def test_outlives_a_renewal_that_fails(self) -> None:
        session = Session("ended", ADMIN, "remembered")
        client = self.behind_proxy(session=session)
        self.proxy.faults = [refusal(401, "unauthenticated"), refusal(503, "unavailable")]
        with self.assertRaises(UnavailableError):
            client.accounts.get_profile()
        self.assertEqual(client.session, session)


class Stream(ProxyTest):
    def test_a_lost_stream_goes_on(self) -> None:
        partner = self.behind_proxy(session=self.signed_in(PARTNER).session)
        guest = self.guest()
        # It sends the first notification, whatever it is about, and is cut.
        self.proxy.faults = [CUT_STREAM]
        notifications = partner.notifications.stream()
        arrived: queue.Queue[types.Notification] = queue.Queue()

        def listen() -> None:
            for notification in notifications:
                arrived.put(notification)

        threading.Thread(target=listen, daemon=True).start()
        ids: list[str] = []
        for _ in range(2):
            booking = guest.bookings.create(booking_form(guest))
            while True:
                notification = arrived.get(timeout=20)
                ids.append(notification["id"])
                # The type of the event decides which fields there are.
                if dict(notification["data"]).get("booking_id") == booking["id"]:
                    break
        self.assertEqual(len(ids), len(set(ids)))
        self.assertGreaterEqual(len(self.proxy.seen), 2)
        self.assertNotIn("Last-Event-ID", self.proxy.seen[0].headers)
        self.assertIn("Last-Event-ID", self.proxy.seen[1].headers)


if __name__ == "__main__":
    unittest.main()
