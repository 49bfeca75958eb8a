/** The notices behind a bell with their count; the count is live. */
import { Bell } from "lucide-react";
import { useState } from "react";
import { Button, Dialog, DialogTrigger, Heading, Popover } from "react-aria-components";
import { useNotices } from "../api/notices.ts";
import { usePlace } from "../api/session.tsx";
import { Failure } from "../parts/failure.tsx";
import { NoticeList } from "../parts/notice-list.tsx";
import { counted } from "../parts/numbers.ts";
import { Switch } from "../parts/toggle.tsx";
import { CountBadge } from "./count-badge.tsx";
import { placeOfNotice } from "./places.ts";

export function NoticesBell() {
  const { workspace } = usePlace();
  const [withDismissed, setWithDismissed] = useState(false);
  const { total, isUrgent } = useNotices(false);
  return (
    <DialogTrigger>
      <Button
        aria-label={total === 0 ? "Notices" : counted(total, "notice")}
        className="relative grid h-8 w-8 shrink-0 place-items-center rounded-control text-muted max-[900px]:h-10 max-[900px]:w-10 hover:bg-sunken hover:text-text"
      >
        <Bell size={16} aria-hidden />
        {total > 0 && <CountBadge count={total} tone={isUrgent ? "bg-bad" : "bg-accent"} />}
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
                  Notices
                </Heading>
                <Switch isSelected={withDismissed} onChange={setWithDismissed}>
                  <span className="text-small text-muted">Show dismissed</span>
                </Switch>
              </div>
              <div className="min-h-0 overflow-auto px-4">
                <Shown
                  withDismissed={withDismissed}
                  hrefOf={(notice) => {
                    const place = placeOfNotice(notice);
                    return place && `/${workspace.id}/${place}`;
                  }}
                  onGo={close}
                />
              </div>
            </>
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

function Shown({
  withDismissed,
  ...rest
}: { readonly withDismissed: boolean } & Omit<Parameters<typeof NoticeList>[0], "notices">) {
  const { notices, error, retry } = useNotices(withDismissed);
  if (error) return <Failure error={error} onRetry={retry} />;
  if (notices?.length === 0) return <p className="py-4 text-muted">Nothing needs you.</p>;
  return <NoticeList notices={notices ?? []} {...rest} />;
}
