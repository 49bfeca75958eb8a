/**
 * The cookies of people who use the console, and the protection against requests that another site makes a browser send
 * with them (cross-site request forgery).
 */
import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyRequest } from "fastify";
import { ApiError } from "#platform/errors.ts";

/** Name of the cookie with the token of a session. */
export const SESSION_COOKIE = "posthaste";

/** The name of a cookie over HTTPS. */
export function secureNameOf(name: string): string {
  return `__Host-${name}`;
}

/**
 * The cookies of one request, and those that its response sets. Over HTTPS their names begin with `__Host-`, so that a
 * browser takes them only from this host and sends them only over HTTPS (RFC 6265bis section 4.1.3.2).
 */
export class CookieJar {
  /** Whether people reach the service over HTTPS. */
  readonly isSecure: boolean;
  readonly #given: Readonly<Record<string, string | undefined>>;
  readonly #set: string[] = [];

  /** @param header the Cookie header of the request */
  constructor(header: string | undefined, isSecure: boolean) {
    this.#given = header === undefined ? {} : parseCookie(header);
    this.isSecure = isSecure;
  }

  get(name: string): string | undefined {
    return this.#given[this.#nameOf(name)];
  }

  /** Sets a cookie that scripts cannot read and that other sites' forms do not send. */
  set(name: string, value: string, seconds: number): void {
    this.#set.push(
      stringifySetCookie({
        name: this.#nameOf(name),
        value,
        path: "/",
        httpOnly: true,
        sameSite: "lax",
        secure: this.isSecure,
        maxAge: seconds,
      }),
    );
  }

  remove(name: string): void {
    this.set(name, "", 0);
  }

  /** Values for Set-Cookie headers. */
  get changes(): readonly string[] {
    return this.#set;
  }

  #nameOf(name: string): string {
    return this.isSecure ? secureNameOf(name) : name;
  }
}

/**
 * Whether people reach the service over HTTPS: the request itself, the proxy in front of it, or PUBLIC_URL for a proxy
 * that is not in TRUSTED_PROXIES.
 */
export function isHttps(request: FastifyRequest, publicUrl: URL | null): boolean {
  return (
    request.protocol === "https" || (publicUrl?.protocol === "https:" && request.host === publicUrl.host)
  );
}

/** Whether the request comes from a page of this service. Without browser headers it does not. */
function isSameOrigin(request: FastifyRequest, isSecure: boolean): boolean {
  const { "sec-fetch-site": site, origin } = request.headers;
  if (site !== undefined) return site === "same-origin";
  return origin === `${isSecure ? "https" : "http"}://${request.host}`;
}

const isSafe = (method: string) => method === "GET" || method === "HEAD";

/** @throws ApiError FORBIDDEN when a request with a session changes something and comes from elsewhere */
export function requireSameOrigin(request: FastifyRequest, isSecure: boolean): void {
  if (isSafe(request.method) || isSameOrigin(request, isSecure)) return;
  throw new ApiError(
    "FORBIDDEN",
    "A change with a session must come from a page of this service: send Sec-Fetch-Site or Origin as a browser does, or use an API key",
  );
}

/**
 * For operations without authentication, such as the sign-in: another site must not make a browser sign in.
 * @throws ApiError FORBIDDEN when a browser sends the request for a page of another site
 */
export function requireNotCrossSite(request: FastifyRequest, isSecure: boolean): void {
  const { "sec-fetch-site": site, origin } = request.headers;
  const isOfBrowser = site !== undefined || origin !== undefined;
  if (isSafe(request.method) || !isOfBrowser || isSameOrigin(request, isSecure)) return;
  throw new ApiError("FORBIDDEN", "Pages of other sites may not use this operation");
}
