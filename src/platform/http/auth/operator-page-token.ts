/**
 * A token for a page of the operator, such as the local inbox: configured, or generated at first use and kept in DATA_DIR, so
 * that it is the same after a restart.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";

const TOKEN_BYTES = 24;

/** Whether the headers contain the token as `Authorization: Bearer …` (RFC 6750). */
export function bears({ authorization = "" }: IncomingHttpHeaders, token: string): boolean {
  const [, given] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  return given !== undefined && isSame(given, token);
}

/** Compares in constant time. */
function isSame(given: string, wanted: string): boolean {
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", wanted, "buffer"));
}

export class AccessToken {
  readonly #file: string;
  #value: string | undefined;

  /** @param name of the file in `dataDir` */
  constructor(configured: string | null, dataDir: string, name: string) {
    this.#file = join(dataDir, name);
    this.#value = configured ?? undefined;
  }

  /** Undefined if none was generated yet. */
  find(): string | undefined {
    return this.#value ?? this.#read();
  }

  get value(): string {
    this.#value ??= this.#read() ?? this.#make();
    return this.#value;
  }

  matches(candidate: string): boolean {
    return isSame(candidate, this.value);
  }

  #read(): string | undefined {
    try {
      return readFileSync(this.#file, "utf8").trim() || undefined;
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw fault;
    }
  }

  /** Creates the file atomically; if two processes do so at once, both use the token of the first. */
  #make(): string {
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    mkdirSync(join(this.#file, ".."), { recursive: true, mode: 0o700 });
    const own = `${this.#file}.${process.pid}`;
    writeFileSync(own, `${token}\n`, { mode: 0o600 });
    try {
      linkSync(own, this.#file);
      return token;
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code !== "EEXIST") throw fault;
      return this.#read() ?? token;
    } finally {
      unlinkSync(own);
    }
  }
}
