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
const ID_OCTETS = 16;
/** Between the id and the key in a cursor. */
const MARK = "\u0001";

interface ShownOptions<Row> {
  readonly keyOf?: (row: Row) => string;
  readonly restAfter?: string | null;
  readonly isTotalExact?: boolean;
}

export class ListPage {
  readonly #query: ListQuery;
  readonly #filter: readonly (string | null | undefined)[];
  /** One row more than is returned, to know whether others follow. */
  readonly page: Page;

  /**
   * @param filter everything that selects the rows: the operation, the workspace, ids of the path, filters
   * @throws ApiError VALIDATION_ERROR for a cursor of another list or filter
   */
  constructor(query: ListQuery, ...filter: readonly (string | null | undefined)[]) {
    this.#query = query;
    this.#filter = filter;
    const { limit, after } = query;
    this.page =
      after === undefined
        ? { limit: limit + 1, offset: offsetOf(query) }
        : { limit: limit + 1, offset: 0, ...this.#rowOf(after) };
  }

  /**
   * The rows of the page, without the additional one, and the `pagination` of the response.
   * @param rows the result of `page`
   * @param idOf the id by which the list is sorted
   * @param options.keyOf the value by which it is sorted before the ids, if it is
   * @param options.isTotalExact false if there may be more rows than `total`; omitted for lists that always count all
   * @param options.restAfter the id after which the list continues although `rows` has no more, because a search stopped there
   */
  shown<Row>(
    rows: readonly Row[],
    total: number,
    idOf: (row: Row) => string,
    { keyOf = () => "", restAfter = null, isTotalExact }: ShownOptions<Row> = {},
  ): { readonly rows: Row[]; readonly pagination: Static<typeof Pagination> } {
    const shown = rows.slice(0, this.#query.limit);
    const last = shown.at(-1);
    const isLast = rows.length <= shown.length || last === undefined;
    const next_cursor = isLast
      ? restAfter && this.#cursorOf(restAfter, "")
      : this.#cursorOf(idOf(last), keyOf(last));
    const totals = {
      ...pagination(this.#query, total),
      ...(isTotalExact !== undefined && { total_is_exact: isTotalExact }),
    };
    return { rows: shown, pagination: { ...totals, next_cursor } };
  }

  #cursorOf(id: string, key: string): string {
    const row = Buffer.from(id.replaceAll("-", ""), "hex");
    return Buffer.concat([this.#digest(key), row, Buffer.from(key && MARK + key)]).toString("base64url");
  }

  #rowOf(cursor: string): { readonly after: string; readonly afterKey: string } {
    const octets = Buffer.from(cursor, "base64url");
    const digest = octets.subarray(0, DIGEST_OCTETS);
    const hex = octets.subarray(DIGEST_OCTETS, DIGEST_OCTETS + ID_OCTETS).toString("hex");
    const after = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    const rest = octets.subarray(DIGEST_OCTETS + ID_OCTETS).toString();
    const afterKey = rest.slice(MARK.length);
    const isWhole = rest === "" || (rest.startsWith(MARK) && afterKey !== "");
    if (octets.toString("base64url") !== cursor || !isUuid(after) || !isWhole) {
      throw refusal("is not a cursor: send next_cursor of a response unchanged");
    }
    if (!digest.equals(this.#digest(afterKey))) {
      throw refusal("is a cursor of another list or filter: keep the filter, or start without a cursor");
    }
    return { after, afterKey };
  }

  /** Of the filter, and of the key of a row, so that a cursor whose key was changed is refused. */
  #digest(key: string): Buffer {
    const of = key === "" ? this.#filter : [...this.#filter, key];
    return hash("sha256", JSON.stringify(of), "buffer").subarray(0, DIGEST_OCTETS);
  }
}

const refusal = (message: string) => invalid({ field: "after", message: `after ${message}` });
