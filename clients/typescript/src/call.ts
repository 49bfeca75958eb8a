/** What the methods of the client return: a promise of `data`, of the whole answer on request, and of all rows of a list. */
import type { FieldError } from "./errors.ts";

/** A successful answer. */
export interface Answer<Data> {
  readonly data: Data;
  /** A text for people; empty for files. */
  readonly message: string;
  /** Names in the request that the service does not know and ignored. */
  readonly warnings: readonly FieldError[];
  /** Value for `after`, for lists without `pagination`; null if there are no more rows. */
  readonly nextCursor: string | null | undefined;
  /** `X-Request-Id` of the answer. */
  readonly requestId: string | undefined;
  /** The HTTP response. Its body has been read, except for files. */
  readonly response: Response;
}

/** A call that has begun. Awaited, it gives `data`. */
export class Call<Data> extends Promise<Data> {
  readonly #answer: Promise<Answer<Data>>;

  /** Promises that derive from a call are plain ones. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  constructor(answer: Promise<Answer<Data>>) {
    super((resolve, reject) => {
      answer.then(({ data }) => resolve(data), reject);
    });
    this.#answer = answer;
  }

  /** The whole answer: `data` with its message, warnings and headers. */
  withResponse(): Promise<Answer<Data>> {
    // The failure rejects the promise below, so the call itself need not be awaited.
    this.catch(() => {});
    return this.#answer.then((answer) => answer);
  }
}

/** The array of rows within `data`; "data" names `data` itself. */
type RowsOf<Data, Name extends string> = Name extends "data"
  ? Data
  : Data extends { [One in Name]?: infer Rows }
    ? Rows
    : never;
type RowOf<Data, Name extends string> =
  NonNullable<RowsOf<Data, Name>> extends readonly (infer Row)[] ? Row : never;

/** What selects the page after another. */
export type NextPage = { readonly after: string } | { readonly page: number };

/** A call of a list. Awaited, it gives one page; iterated, all rows from that page on. */
export class PagedCall<Data, Name extends string> extends Call<Data> {
  readonly #rowsName: Name;
  readonly #following: (next: NextPage) => Promise<Answer<Data>>;

  constructor(
    answer: Promise<Answer<Data>>,
    rowsName: Name,
    following: (next: NextPage) => Promise<Answer<Data>>,
  ) {
    super(answer);
    this.#rowsName = rowsName;
    this.#following = following;
  }

  /** The rows of this page and of all pages after it, which are read as they are needed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<RowOf<Data, Name>, void, undefined> {
    for await (const page of this.pages()) yield* this.#rowsOf(page);
  }

  /** The `data` of this page and of all pages after it. Lists with cursors are read by cursor. */
  async *pages(): AsyncGenerator<Data, void, undefined> {
    for (let answer = await this.withResponse(); ; ) {
      yield answer.data;
      const next = nextPageOf(answer);
      if (next === undefined) return;
      answer = await this.#following(next);
    }
  }

  #rowsOf(data: Data): readonly RowOf<Data, Name>[] {
    const rows = this.#rowsName === "data" ? data : (data as Record<string, unknown>)[this.#rowsName];
    return (rows ?? []) as readonly RowOf<Data, Name>[];
  }
}

interface PageNumbers {
  readonly page: number;
  readonly total_pages: number;
  readonly next_cursor?: string | null;
}

function nextPageOf({ data, nextCursor }: Answer<unknown>): NextPage | undefined {
  const { pagination } = (data ?? {}) as { pagination?: PageNumbers };
  const cursor = nextCursor ?? pagination?.next_cursor;
  if (typeof cursor === "string") return { after: cursor };
  const hasCursors = cursor === null;
  if (hasCursors || pagination === undefined || pagination.page >= pagination.total_pages) return undefined;
  return { page: pagination.page + 1 };
}
