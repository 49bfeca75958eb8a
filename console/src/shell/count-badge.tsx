/** A count at the corner of a button. It is no text, because the name of the button says the count. */
const MOST_SHOWN = 99;

export function CountBadge({ count, tone }: { readonly count: number; readonly tone: string }) {
  return (
    <span
      aria-hidden
      data-count={count > MOST_SHOWN ? `${MOST_SHOWN}+` : count}
      className={`absolute top-0 right-0 grid h-4 min-w-4 place-items-center rounded-full px-1 text-[10px] font-semibold text-on-accent before:content-[attr(data-count)] ${tone}`}
    />
  );
}
