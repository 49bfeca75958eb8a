/** Which rows of how many are shown, with the way to the pages beside and to any other. */
import { ChevronLeft, ChevronRight } from "lucide-react";
import { IconButton } from "./button.tsx";
import { countText } from "./numbers.ts";

export interface Pagination {
  readonly page: number;
  readonly limit: number;
  readonly total: number;
  readonly total_pages: number;
  /** False if there may be more rows than `total`. */
  readonly total_is_exact?: boolean;
}

/** `1,200`, or `more than 10,000` where the rows were counted up to there. */
export function totalText({ total, total_is_exact = true }: Pagination): string {
  return `${total_is_exact ? "" : "more than "}${countText(total)}`;
}

interface Props {
  readonly pagination: Pagination;
  readonly onPage: (page: number) => void;
  /** Called before the next page is asked for, to load it early. */
  readonly onNear?: (page: number) => void;
}

export function Pager({ pagination, onPage, onNear }: Props) {
  const { page, limit, total, total_pages } = pagination;
  const first = Math.min(total, (page - 1) * limit + 1);
  const last = Math.min(total, page * limit);
  return (
    <nav aria-label="Pages" className="flex items-center gap-2 text-table text-muted">
      <span>
        {countText(first)}–{countText(last)} of {totalText(pagination)}
      </span>
      <IconButton
        label="Previous page"
        icon={<ChevronLeft size={16} aria-hidden />}
        isDisabled={page <= 1}
        onPress={() => onPage(page - 1)}
      />
      <form
        className="flex items-center gap-1"
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = Number(new FormData(event.currentTarget).get("page"));
          if (Number.isInteger(wanted)) onPage(Math.max(1, Math.min(total_pages, wanted)));
        }}
      >
        <input
          key={page}
          name="page"
          defaultValue={page}
          inputMode="numeric"
          aria-label={`Page, of ${countText(total_pages)}`}
          className="h-7 w-14 rounded-control border border-control/60 bg-surface px-2 text-right text-text"
        />
        <span className="max-md:hidden">of {countText(total_pages)}</span>
      </form>
      <IconButton
        label="Next page"
        icon={<ChevronRight size={16} aria-hidden />}
        isDisabled={page >= total_pages}
        onHoverStart={() => onNear?.(page + 1)}
        onPress={() => onPage(page + 1)}
      />
    </nav>
  );
}
