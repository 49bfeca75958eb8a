/** Rows of two lines that are still to come, of the same height. */
export function SkeletonLines({ count }: { readonly count: number }) {
  return (
    <div aria-hidden>
      {Array.from({ length: count }, (_, index) => (
        <div key={String(index)} className="flex h-14 flex-col justify-center gap-2 border-b border-line/60">
          <span className="block h-3 w-40 animate-appear rounded bg-sunken" />
          <span className="block h-3 w-64 max-w-full animate-appear rounded bg-sunken" />
        </div>
      ))}
    </div>
  );
}
