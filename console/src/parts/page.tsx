/** A page: its title, the acts at its side, and panels divided by lines. */
import type { ReactNode } from "react";

export function Page({
  title,
  acts,
  children,
}: {
  readonly title: string;
  readonly acts?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div className="mx-auto max-w-5xl px-6 pb-16">
      <header className="flex min-h-16 items-center gap-3 py-3">
        <h1 className="min-w-0 text-title break-words max-md:line-clamp-4 md:truncate font-semibold tracking-[-0.01em]">
          {title}
        </h1>
        {acts && <div className="ml-auto flex shrink-0 gap-2">{acts}</div>}
      </header>
      {children}
    </div>
  );
}

export function Panel({
  title,
  acts,
  children,
}: {
  readonly title: string;
  readonly acts?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className="border-t border-line py-5">
      <div className="mb-3 flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2">
        <h2 className="text-[15px] font-semibold">{title}</h2>
        {acts && <div className="ml-auto flex flex-wrap justify-end gap-2">{acts}</div>}
      </div>
      {children}
    </section>
  );
}
