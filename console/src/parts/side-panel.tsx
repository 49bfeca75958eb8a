/** One row of a list, opened beside it. Esc closes the panel. */
import { useNavigate } from "@tanstack/react-router";
import { Maximize2, X } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "./button.tsx";
import { useKeys } from "./keys.ts";

interface Props {
  /** What kind of thing it is, for screen readers. */
  readonly label: string;
  readonly title: string;
  /** The address of the page of the same thing, where it has one. */
  readonly page?: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function SidePanel({ label, title, page, onClose, children }: Props) {
  const navigate = useNavigate();
  useKeys({ Escape: { name: `Close the ${label.toLowerCase()}`, group: "Table", run: onClose } });
  return (
    <aside
      aria-label={label}
      className="flex h-full min-h-0 min-w-0 flex-col border-l border-line bg-surface"
    >
      <div className="flex h-14 shrink-0 items-center gap-1 border-b border-line px-4 pl-5">
        <h2 className="min-w-0 flex-1 truncate font-semibold">{title}</h2>
        {page !== undefined && (
          <IconButton
            label="Open the whole page"
            hint="Enter"
            icon={<Maximize2 size={15} aria-hidden />}
            onPress={() => void navigate({ to: page })}
          />
        )}
        <IconButton label="Close" hint="Esc" icon={<X size={16} aria-hidden />} onPress={onClose} />
      </div>
      <div className="min-h-0 flex-1 overflow-auto">{children}</div>
    </aside>
  );
}
