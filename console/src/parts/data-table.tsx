/**
 * The table of all lists: a real table with a sticky head and a sticky first column, rows that open, and a focus that arrow keys and
 * `j`/`k` move. Old rows stay, dimmed, while new ones load; the skeleton has the height of what comes.
 */
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useKeys } from "./keys.ts";
import type { SelectionState } from "./selection.ts";
import { Checkbox, RowBox } from "./toggle.tsx";

export interface Column<Row> {
  readonly id: string;
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** CSS width; a column without one shares what is left. */
  readonly width?: string;
  readonly isNumeric?: boolean;
  /** Hidden on narrow screens. */
  readonly isSecondary?: boolean;
}

interface Props<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while the first rows load. */
  readonly rows: readonly Row[] | undefined;
  readonly idOf: (row: Row) => string;
  readonly openId?: string | undefined;
  readonly onOpen: (row: Row) => void;
  readonly isStale?: boolean;
  readonly isDense?: boolean;
  /** Rows get a box to choose them, and the key `x`. */
  readonly selection?: SelectionState;
  /** What people call a row, for its box; without it, its id. */
  readonly nameOf?: ((row: Row) => string) | undefined;
}

const SKELETON_ROWS = 12;
/** The least width of a column without one of its own; below their sum the table scrolls sideways. */
const LEAST_COLUMN_PX = 128;
const BOX_PX = 40;

export function DataTable<Row>(props: Props<Row>) {
  const { label, columns, rows, idOf, openId, onOpen, isStale = false, isDense = false, selection } = props;
  const { nameOf = idOf } = props;
  const [focused, setFocused] = useState(0);
  const body = useRef<HTMLTableSectionElement>(null);
  const count = rows?.length ?? 0;
  const height = isDense ? "h-7" : "h-9";
  const moveTo = (index: number) => {
    const next = Math.max(0, Math.min(count - 1, index));
    setFocused(next);
    body.current?.querySelectorAll<HTMLElement>("tr")[next]?.focus();
  };
  // A panel that closes gives the focus back to its row.
  const opened = useRef(openId);
  useEffect(() => {
    const closed = opened.current;
    opened.current = openId;
    if (closed === undefined || openId !== undefined || document.activeElement !== document.body) return;
    const index = rows?.findIndex((row) => idOf(row) === closed) ?? -1;
    if (index >= 0) body.current?.querySelectorAll<HTMLElement>("tr")[index]?.focus();
  });
  const step = (by: number) => moveTo(isWithin(body.current) ? focused + by : focused);
  useKeys({
    j: { name: "Next row", group: "Table", run: () => step(1) },
    k: { name: "Row before", group: "Table", run: () => step(-1) },
  });
  const onKey = (event: KeyboardEvent, index: number, row: Row) => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, Home: -count, End: count };
    const by = steps[event.key];
    if (by !== undefined) moveTo(index + by);
    else if (event.target !== event.currentTarget) return;
    else if (event.key === "Enter") onOpen(row);
    else if (event.key === "x" && selection) selection.toggle(idOf(row));
    else return;
    event.preventDefault();
  };
  return (
    <table
      aria-label={label}
      aria-busy={rows === undefined || isStale}
      style={{ minWidth: leastWidth(columns) + (selection ? BOX_PX : 0) }}
      className={`w-full table-fixed border-separate border-spacing-0 text-table transition-opacity duration-100 ${isStale ? "opacity-60 delay-300" : ""}`}
    >
      <colgroup>
        {selection && <col style={{ width: BOX_PX }} />}
        {columns.map(({ id, width, isSecondary }) => (
          <col key={id} style={{ width }} className={isSecondary ? "max-md:hidden" : ""} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {selection && (
            <th scope="col" className="sticky top-0 left-0 z-20 border-b border-line bg-surface px-3">
              <PageBox ids={rows?.map(idOf) ?? []} selection={selection} />
            </th>
          )}
          {columns.map(({ id, head, isNumeric, isSecondary }, place) => (
            <th
              key={id}
              scope="col"
              className={`sticky top-0 h-8 truncate border-b border-line bg-surface px-3 text-small font-medium text-muted ${isNumeric ? "text-right" : "text-left"} ${isSecondary ? "max-md:hidden" : ""} ${place === 0 ? `z-20 ${firstLeft(selection)}` : "z-10"}`}
            >
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {rows === undefined
          ? Array.from({ length: SKELETON_ROWS }, (_, index) => (
              <SkeletonRow
                key={String(index)}
                columns={columns}
                index={index}
                height={height}
                hasBox={selection !== undefined}
              />
            ))
          : rows.map((row, index) => {
              const id = idOf(row);
              return (
                <tr
                  key={id}
                  tabIndex={index === Math.min(focused, count - 1) ? 0 : -1}
                  aria-selected={id === openId}
                  onFocus={() => setFocused(index)}
                  onClick={() => onOpen(row)}
                  onKeyDown={(event) => onKey(event, index, row)}
                  className={`${height} bg-surface -outline-offset-2 hover:bg-sunken aria-selected:bg-selected [&>td]:border-b [&>td]:border-line/60`}
                >
                  {selection && (
                    // biome-ignore lint/a11y/useKeyWithClickEvents: only keeps a click on the box from opening the row
                    <td
                      className="sticky left-0 z-[5] bg-inherit px-3"
                      onClick={(event) => event.stopPropagation()}
                    >
                      <RowBox
                        label={`Choose ${nameOf(row)}`}
                        isSelected={selection.has(id)}
                        onChange={() => selection.toggle(id)}
                      />
                    </td>
                  )}
                  {columns.map((column, place) => (
                    <td
                      key={column.id}
                      className={`truncate px-3 ${column.isNumeric ? "text-right" : ""} ${column.isSecondary ? "max-md:hidden" : ""} ${place === 0 ? `z-[5] bg-inherit ${firstLeft(selection)}` : ""}`}
                    >
                      {column.cell(row)}
                    </td>
                  ))}
                </tr>
              );
            })}
      </tbody>
    </table>
  );
}

/** The first column stays at the left, beside the boxes. */
function firstLeft(selection: SelectionState | undefined): string {
  return `sticky max-md:border-r max-md:border-r-line/60 ${selection ? "left-10" : "left-0"}`;
}

function leastWidth<Row>(columns: readonly Column<Row>[]): number {
  const shown = columns.filter(({ isSecondary }) => !isSecondary || matchMedia("(width >= 48rem)").matches);
  return shown.reduce(
    (sum, { width }) => sum + (width?.endsWith("px") ? Number.parseInt(width, 10) : LEAST_COLUMN_PX),
    0,
  );
}

function SkeletonRow<Row>({
  columns,
  index,
  height,
  hasBox,
}: {
  readonly columns: readonly Column<Row>[];
  readonly index: number;
  readonly height: string;
  readonly hasBox: boolean;
}) {
  return (
    <tr className={`${height} [&>td]:border-b [&>td]:border-line/60`}>
      {hasBox && <td />}
      {columns.map(({ id, isSecondary }, place) => (
        <td key={id} className={`px-3 ${isSecondary ? "max-md:hidden" : ""}`}>
          <span
            className="block h-3 animate-appear rounded bg-sunken"
            style={{ width: `${40 + ((index * 37 + place * 23) % 50)}%` }}
          />
        </td>
      ))}
    </tr>
  );
}

function PageBox({
  ids,
  selection,
}: {
  readonly ids: readonly string[];
  readonly selection: SelectionState;
}) {
  const count = ids.filter(selection.has).length;
  return (
    <Checkbox
      label="Choose the rows of this page"
      isSelected={count > 0 && count === ids.length}
      isIndeterminate={count > 0 && count < ids.length}
      onChange={() => selection.togglePage(ids)}
    />
  );
}

function isWithin(element: HTMLElement | null): boolean {
  return element?.contains(document.activeElement) ?? false;
}
