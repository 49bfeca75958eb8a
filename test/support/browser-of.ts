/** A browser without pages: keeps cookies, and sends the headers of a page of the service. */
import type { ApiAnswer } from "./api-caller.ts";

export class TestBrowser {
  readonly cookies = new Map<string, string>();
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url;
    this.#headers = headers;
  }

  /** Another browser with the same cookies. */
  copy(): TestBrowser {
    const other = new TestBrowser(this.#url, this.#headers);
    for (const [name, value] of this.cookies) other.cookies.set(name, value);
    return other;
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiAnswer> {
    const response = await fetch(`${this.#url}/api/v1${path}`, {
      method,
      headers: {
        Cookie: this.#cookieHeader(),
        "Sec-Fetch-Site": "same-origin",
        "User-Agent": "Test browser",
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...this.#headers,
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    this.#keepCookies(response);
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  /** Opens a page, as after a link or a redirect of another site, without following redirects of its own. */
  async open(path: string): Promise<{ status: number; headers: Headers; text: string }> {
    const response = await fetch(new URL(path, this.#url), {
      redirect: "manual",
      headers: { Cookie: this.#cookieHeader(), "User-Agent": "Test browser", ...this.#headers },
    });
    this.#keepCookies(response);
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  #cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  #keepCookies({ headers }: Response): void {
    for (const cookie of headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}
