/**
 * Pagination by page number or by cursor. A cursor contains the id of the last row that was returned, so that rows which are
 * added or removed meanwhile do not make the caller miss or repeat other rows. It is valid only for the list and the filter
 * that it came from.
 */
import { hash } from "node:crypto";
import type { Static } from "typebox";
import type { Page } from "#platform/database/page.ts";
import { invalid } from "#platform/errors.ts";
import { offsetOf, type Pagination, pagination } from "#platform/http/response/pagination.ts";
import { isUuid } from "#platform/ids.ts";

interface ListQuery {
  readonly page: number;
  readonly limit: number;
  readonly after: string | undefined;
}

/** Octets of the digest of the filter in a cursor. */
const DIGEST_OCTETS = 9;

export class ListPage {
  readonly #query: ListQuery;
  readonly #filter: Buffer;
  /** One row more than is returned, to know whether others follow. */
  readonly page: Page;

  /**
   * @param filter everything that selects the rows: the operation, the workspace, ids of the path, filters
   * @throws ApiError VALIDATION_ERROR for a cursor of another list or filter
   */
  constructor(query: ListQuery, ...filter: readonly (string | null | undefined)[]) {
    this.#query = query;
    this.#filter = hash("sha256", JSON.stringify(filter), "buffer").subarray(0, DIGEST_OCTETS);
    const { limit, after } = query;
    this.page =
      after === undefined
        ? { limit: limit + 1, offset: offsetOf(query) }
        : { limit: limit + 1, offset: 0, after: this.#rowOf(after) };
  }

  /**
   * The rows of the page, without the additional one, and the `pagination` of the response.
   * @param rows the result of `page`
   * @param idOf the id by which the list is sorted
   * @param restAfter the id after which the list continues although `rows` has no more, because a search stopped there
   */
  shown<Row>(
    rows: readonly Row[],
    total: number,
    idOf: (row: Row) => string,
    restAfter: string | null = null,
  ): { readonly rows: Row[]; readonly pagination: Static<typeof Pagination> } {
    const shown = rows.slice(0, this.#query.limit);
    const last = shown.at(-1);
    const next = rows.length > shown.length && last !== undefined ? idOf(last) : restAfter;
    const next_cursor = next === null ? null : this.#cursorOf(next);
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
      throw refusal("is not a cursor: send next_cursor of a response unchanged");
    }
    if (!octets.subarray(0, DIGEST_OCTETS).equals(this.#filter)) {
      throw refusal("is a cursor of another list or filter: keep the filter, or start without a cursor");
    }
    return id;
  }
}

const refusal = (message: string) => invalid({ field: "after", message: `after ${message}` });
