/** A place without rows: by nature, with what it is for, or by a filter, with the way to clear it. */
import type { ReactNode } from "react";

export function Empty({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="mx-auto max-w-md px-6 py-16 text-center">
      <p className="text-[15px] font-medium">{title}</p>
      {children && <div className="mt-1 text-balance text-muted">{children}</div>}
      {action && <div className="mt-4 flex justify-center gap-2">{action}</div>}
    </div>
  );
}
