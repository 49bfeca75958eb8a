/**
 * Access to the local inbox, by a token. The program prints an address with the token at its start; a browser that opens it gets
 * a cookie, and other clients send `Authorization: Bearer` or the token in the query. An operator who is signed in needs no
 * token. The address of the client is not trusted: behind a proxy, every request seems to come from this machine.
 */
import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Config } from "#platform/config/config.ts";
import { ApiError } from "#platform/errors.ts";
import { AccessToken, bears } from "#platform/http/auth/operator-page-token.ts";
import { html, sendPage } from "#platform/http/response/html-page.ts";
import { typedCommand } from "#platform/typed-command.ts";

const COOKIE_DAYS = 365;

export function inboxToken(config: Pick<Config, "INBOX_TOKEN" | "DATA_DIR">): AccessToken {
  return new AccessToken(config.INBOX_TOKEN, config.DATA_DIR, "inbox.token");
}

/** @param base where the service listens, such as http://127.0.0.1:8080 */
export function inboxAddress(base: string, { value }: Pick<AccessToken, "value">): string {
  return `${base}/inbox?token=${encodeURIComponent(value)}`;
}

/** Whether the browser has the session of an operator, who may see the mail of all workspaces. */
export type IsOperator = (request: FastifyRequest) => Promise<boolean>;

export class InboxAccess {
  readonly #token: AccessToken;
  readonly #isOperator: IsOperator;

  constructor(token: AccessToken, isOperator: IsOperator) {
    this.#token = token;
    this.#isOperator = isOperator;
  }

  /** Answers the request if access is denied, or to move the token into a cookie. @throws ApiError UNAUTHORIZED */
  async check(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const { url, headers } = request;
    const { pathname, searchParams } = new URL(url, "http://inbox");
    const isApi = /^\/inbox\/messages(\/|$)/.test(pathname);
    if (this.#token.matches(searchParams.get("token") ?? "")) {
      if (isApi) return undefined;
      // Redirects to the address without the token, because an address is visible and may be shared.
      searchParams.delete("token");
      const rest = searchParams.size > 0 ? `?${searchParams.toString()}` : "";
      return reply.header("Set-Cookie", this.#cookie(request)).redirect(`${pathname}${rest}`, 303);
    }
    if (bears(headers, this.#token.value) || this.#isInCookie(headers.cookie)) return undefined;
    if (await this.#isOperator(request)) return undefined;
    if (isApi) {
      throw new ApiError("UNAUTHORIZED", `The local inbox requires its token: ${HOW}`, {
        headers: { "WWW-Authenticate": "Bearer" },
      });
    }
    return sendPage(
      reply,
      401,
      "This inbox requires its token",
      html`<p>Open the address of the inbox that the start of Posthaste printed. On the machine it runs on,
        <code>${typedCommand("inbox")}</code> prints it again. An operator who is signed in to the
        <a href="/console">console</a> needs no token.</p>`,
    );
  }

  /** Contains a hash of the token: cookies of two services on one host are not separated by port. */
  get #cookieName(): string {
    return `posthaste_inbox_${hash("sha256", `cookie ${this.#token.value}`).slice(0, 8)}`;
  }

  #cookie({ protocol }: FastifyRequest): string {
    const parts = [
      `${this.#cookieName}=${encodeURIComponent(this.#token.value)}`,
      "Path=/inbox",
      `Max-Age=${COOKIE_DAYS * 86_400}`,
      "HttpOnly",
      "SameSite=Strict",
    ];
    return [...parts, ...(protocol === "https" ? ["Secure"] : [])].join("; ");
  }

  #isInCookie(header = ""): boolean {
    return header.split(";").some((pair) => {
      const [name = "", value = ""] = pair.trim().split("=", 2);
      return name === this.#cookieName && this.#token.matches(decoded(value));
    });
  }
}

const HOW = `send Authorization: Bearer with what \`${typedCommand("inbox --token")}\` prints`;

/** Invalid encoding is returned as it is, and does not match the token. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
