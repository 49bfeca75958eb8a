/**
 * The way of one request through a paginated list: to a page by its number, or on from a cursor. A cursor names the last
 * row that was shown, so rows that come or go meanwhile move no other row past the caller. It holds for the list and the
 * filter that it came from.
 */
import { hash } from "node:crypto";
import type { Static } from "typebox";
import type { Page } from "#platform/database/page.ts";
import { invalid } from "#platform/errors.ts";
import { offsetOf, type Pagination, pagination } from "#platform/http/response/paging.ts";
import { isUuid } from "#platform/ids.ts";

interface WalkQuery {
  readonly page: number;
  readonly limit: number;
  readonly after: string | undefined;
}

/** Octets of a filter's digest in a cursor. */
const DIGEST_OCTETS = 9;

export class Walk {
  readonly #query: WalkQuery;
  readonly #filter: Buffer;
  /** Asks for one row more than is shown, by which it is known whether others follow. */
  readonly page: Page;

  /**
   * @param filter everything that decides which rows there are: the operation, the workspace, ids of the path, filters
   * @throws ApiError VALIDATION_ERROR for a cursor of another list or filter
   */
  constructor(query: WalkQuery, ...filter: readonly (string | null | undefined)[]) {
    this.#query = query;
    this.#filter = hash("sha256", JSON.stringify(filter), "buffer").subarray(0, DIGEST_OCTETS);
    const { limit, after } = query;
    this.page =
      after === undefined
        ? { limit: limit + 1, offset: offsetOf(query) }
        : { limit: limit + 1, offset: 0, after: this.#rowOf(after) };
  }

  /**
   * The rows of the page without the one too many, and what the answer says of the page.
   * @param rows as `page` asks for them
   * @param idOf the id by which the list is in order
   */
  shown<Row>(
    rows: readonly Row[],
    total: number,
    idOf: (row: Row) => string,
  ): { readonly rows: Row[]; readonly pagination: Static<typeof Pagination> } {
    const shown = rows.slice(0, this.#query.limit);
    const last = shown.at(-1);
    const next_cursor = rows.length > shown.length && last !== undefined ? this.#cursorOf(idOf(last)) : null;
    return { rows: shown, pagination: { ...pagination(this.#query, total), next_cursor } };
  }

  #cursorOf(id: string): string {
    return Buffer.concat([this.#filter, Buffer.from(id.replaceAll("-", ""), "hex")]).toString("base64url");
  }

  #rowOf(cursor: string): string {
    const octets = Buffer.from(cursor, "base64url");
    const hex = octets.subarray(DIGEST_OCTETS).toString("hex");
    const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    if (octets.toString("base64url") !== cursor || !isUuid(id)) {
      throw refusal("is no cursor: send next_cursor of an answer as it is");
    }
    if (!octets.subarray(0, DIGEST_OCTETS).equals(this.#filter)) {
      throw refusal("is a cursor of another list or filter: begin without it, or keep the filter");
    }
    return id;
  }
}

const refusal = (message: string) => invalid({ field: "after", message: `after ${message}` });
