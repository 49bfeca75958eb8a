/**
 * Hashes of passwords: Argon2id (RFC 9106) in the PHC string format, so that each hash has its parameters and they can be
 * raised later. A hash takes 19 MiB and some 50 ms of a core on purpose, so only a few run at a time, and few may wait.
 */
import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { createLimiter } from "#platform/concurrency.ts";
import { overloaded } from "#platform/errors.ts";

interface Cost {
  /** KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** The least that OWASP's Password Storage Cheat Sheet recommends. */
const COST: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;
/** Hashes at a time in a process. Each takes one of the threads that also sign mail. */
const MOST_AT_ONCE = 4;
/** Passwords that may wait, for some two seconds. */
const MOST_WAITING = 100;

const phcForm = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]{16,86})\$([\w+/]{16,172})$/;
const deriveKey = promisify((parameters: Argon2Parameters, done: (err: Error | null, key: Buffer) => void) =>
  argon2("argon2id", parameters, done),
);

export interface PasswordCheck {
  readonly isRight: boolean;
  /** Whether the stored hash has other parameters than new ones: the caller stores a new hash. */
  readonly isOutdated: boolean;
}

/** Hashes and checks passwords, a few at a time. One for each process. */
export class PasswordHasher {
  readonly #limit = createLimiter(MOST_AT_ONCE);
  readonly #cost: Cost;
  readonly #onHash: () => void;
  #waiting = 0;
  /** Compared with when there is no account, so that an unknown address takes as long as a known one. */
  readonly #dummy: string;

  /** @param onHash called for each hash that is computed */
  constructor(cost: Cost = COST, onHash: () => void = () => {}) {
    this.#cost = cost;
    this.#onHash = onHash;
    this.#dummy = phcOf(cost, randomBytes(SALT_BYTES), randomBytes(TAG_BYTES));
  }

  /** @throws ApiError 503 when too many wait */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    return phcOf(this.#cost, salt, await this.#derive(password, salt, this.#cost, TAG_BYTES));
  }

  /**
   * Compares in constant time.
   * @param stored null for an account without a password, or no account: a hash is computed all the same
   * @throws ApiError 503 when too many wait
   */
  async check(password: string, stored: string | null): Promise<PasswordCheck> {
    const [, memory, passes, parallelism, salt = "", tag = ""] = phcForm.exec(stored ?? this.#dummy) ?? [];
    const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
    const wanted = Buffer.from(tag, "base64");
    const given = await this.#derive(password, Buffer.from(salt, "base64"), cost, wanted.length);
    const isRight = timingSafeEqual(given, wanted) && stored !== null;
    const own = this.#cost;
    const isOutdated =
      cost.memory !== own.memory || cost.passes !== own.passes || cost.parallelism !== own.parallelism;
    return { isRight, isOutdated };
  }

  async #derive(password: string, nonce: Buffer, cost: Cost, tagLength: number): Promise<Buffer> {
    if (this.#waiting >= MOST_WAITING) throw overloaded("Too many people sign in at once: try again shortly");
    this.#waiting += 1;
    // The same letters may be typed as different code points.
    const message = password.normalize("NFC");
    try {
      return await this.#limit(() => {
        this.#onHash();
        return deriveKey({ message, nonce, tagLength, ...cost });
      });
    } finally {
      this.#waiting -= 1;
    }
  }
}

function phcOf({ memory, passes, parallelism }: Cost, salt: Buffer, tag: Buffer): string {
  const base64 = (octets: Buffer) => octets.toString("base64").replaceAll("=", "");
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(tag)}`;
}
