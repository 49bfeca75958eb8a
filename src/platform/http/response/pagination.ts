/** The `pagination` object of paginated lists. */
import { type Static, type TSchema, Type } from "typebox";

export const Pagination = Type.Object(
  {
    page: Type.Integer({ description: "The page that was returned, from 1." }),
    limit: Type.Integer({ description: "Rows per page that was applied." }),
    total: Type.Integer({ description: "Rows on all pages." }),
    total_pages: Type.Integer({ description: "Number of pages; 0 if there are no rows." }),
    total_is_exact: Type.Optional(
      Type.Boolean({
        description:
          "False if there may be more rows than `total`, which is then the maximum up to which they were counted. Lists without it count all rows.",
      }),
    ),
    next_cursor: Type.Optional(
      Type.Unsafe<string | null>({
        anyOf: [{ type: "string" }, { type: "null" }],
        description: "Value for `after`, if the call accepts it; null if there are no more rows.",
      }),
    ),
  },
  { $id: "Pagination", description: "The page that was returned, and how many rows there are." },
);

/** The shape `{ <name>: rows, pagination }`, a component of the API reference if the row is one. */
export function pageOf<const Name extends string, Row extends TSchema>(name: Name, row: Row) {
  const { $id } = row as { $id?: string };
  return Type.Object(
    {
      [name]: Type.Array(row, { description: "The rows of the page." }),
      pagination: Pagination,
    } as {
      [Key in Name]: ReturnType<typeof Type.Array<Row>>;
    } & { pagination: typeof Pagination },
    $id === undefined ? {} : { $id: `${$id}Page`, description: "A page of a list." },
  );
}

/** The `pagination` of a response: the applied page and limit, and the totals. */
export function pagination(query: { page: number; limit: number }, total: number): Static<typeof Pagination> {
  return { page: query.page, limit: query.limit, total, total_pages: Math.ceil(total / query.limit) };
}

/** Rows to skip before the page. */
export function offsetOf(query: { page: number; limit: number }): number {
  return (query.page - 1) * query.limit;
}
