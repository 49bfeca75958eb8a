/** The one column of all pages without a session. */
import type { ReactNode } from "react";

export function Column({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <main className="mx-auto flex min-h-dvh max-w-[360px] flex-col justify-center px-4 py-16">
      <img src="/console/icon.svg" alt="" width="32" height="32" className="mb-6" />
      <h1 className="mb-6 text-title font-semibold tracking-[-0.01em]">{title}</h1>
      <div className="flex flex-col gap-4">{children}</div>
    </main>
  );
}
