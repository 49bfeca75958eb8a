/** A button of the top with a count, which opens a small list over the page. */
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Button, Dialog, DialogTrigger, Heading, Popover } from "react-aria-components";
import { CountBadge } from "./count-badge.tsx";

interface Props {
  /** The name of the button, with the count. */
  readonly label: string;
  readonly icon: LucideIcon;
  readonly count: number;
  /** The colour of the count. */
  readonly tone: string;
  readonly title: string;
  /** At the end of the line of the title. */
  readonly beside: (close: () => void) => ReactNode;
  readonly children: (close: () => void) => ReactNode;
}

export function Tray({ label, icon: Icon, count, tone, title, beside, children }: Props) {
  return (
    <DialogTrigger>
      <Button
        aria-label={label}
        className="relative grid h-8 w-8 shrink-0 place-items-center rounded-control text-muted max-[900px]:h-10 max-[900px]:w-10 hover:bg-sunken hover:text-text"
      >
        <Icon size={16} aria-hidden />
        {count > 0 && <CountBadge count={count} tone={tone} />}
      </Button>
      <Popover
        placement="bottom start"
        className="w-[26rem] max-w-[calc(100vw-16px)] rounded-panel bg-surface shadow-overlay"
      >
        <Dialog className="flex max-h-[70dvh] flex-col outline-none">
          {({ close }) => (
            <>
              <div className="flex items-center gap-4 border-b border-line px-4 py-2.5">
                <Heading slot="title" className="flex-1 font-semibold">
                  {title}
                </Heading>
                {beside(close)}
              </div>
              <div className="min-h-0 overflow-auto px-4">{children(close)}</div>
            </>
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
