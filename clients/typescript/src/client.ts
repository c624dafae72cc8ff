// The client.

import { Operations } from "./generated/operations.js";
import type { LoginRole, SignedIn } from "./generated/types.js";
import { Transport, type Session, type Settings } from "./transport.js";

export interface Credentials {
  email: string;
  password: string;
  /** Default: the account's own. */
  role?: LoginRole;
  /** Of a second factor. Without it, an account that has one is refused. */
  code?: string;
  /** Whether the session is renewed when it has ended. */
  remember?: boolean;
}

/** A client of one Dermaga service. */
export class Dermaga extends Operations {
  readonly #transport: Transport;

  constructor(settings: Settings) {
    const transport = new Transport(settings);
    super(transport);
    this.#transport = transport;
  }

  /** The current session; undefined for a guest. */
  get session(): Session | undefined {
    return this.#transport.session;
  }

  /** Signs in. All further calls are those of the account. */
  async signIn({ email, password, role = "any", code, remember }: Credentials): Promise<SignedIn> {
    const signedIn = await this.accounts.login({ email, password, role, code: code ?? null });
    const session = { accessToken: signedIn.access_token };
    this.#transport.session = session;
    if (remember) {
      const { remember_token } = await this.accounts.rememberMe({ email });
      this.#transport.session = { ...session, email, rememberToken: remember_token ?? undefined };
    }
    return signedIn;
  }

  /** Ends the session. Further calls are those of a guest. */
  async signOut(): Promise<void> {
    const { session } = this;
    if (!session) return;
    const headers: Record<string, string> = {};
    if (session.rememberToken) headers["X-Remember-Token"] = session.rememberToken;
    await this.#transport.data({
      method: "POST",
      path: "/v1/auth/logout",
      repeat: "change",
      headers,
    });
    this.#transport.session = undefined;
  }
}
