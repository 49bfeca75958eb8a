/** Names and values beside each other. */
import type { ReactNode } from "react";

export function Facts({ children }: { readonly children: ReactNode }) {
  return (
    <dl className="grid grid-cols-[minmax(80px,auto)_minmax(0,1fr)] items-baseline gap-x-4 gap-y-1.5">
      {children}
    </dl>
  );
}

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 truncate">{children}</dd>
    </>
  );
}
