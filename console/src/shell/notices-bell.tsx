/** The notices behind a bell with their count; the count is live. */
import { Bell } from "lucide-react";
import { useState } from "react";
import { useNotices } from "../api/notices.ts";
import { usePlace } from "../api/session.tsx";
import { Failure } from "../parts/failure.tsx";
import { NoticeList } from "../parts/notice-list.tsx";
import { counted } from "../parts/numbers.ts";
import { Switch } from "../parts/toggle.tsx";
import { placeOfNotice } from "./places.ts";
import { Tray } from "./tray.tsx";

export function NoticesBell() {
  const { workspace } = usePlace();
  const [withDismissed, setWithDismissed] = useState(false);
  const { total, isUrgent } = useNotices(false);
  return (
    <Tray
      label={total === 0 ? "Notices" : counted(total, "notice")}
      icon={Bell}
      count={total}
      tone={isUrgent ? "bg-bad" : "bg-accent"}
      title="Notices"
      beside={() => (
        <Switch isSelected={withDismissed} onChange={setWithDismissed}>
          <span className="text-small text-muted">Show dismissed</span>
        </Switch>
      )}
    >
      {(close) => (
        <Shown
          withDismissed={withDismissed}
          hrefOf={(notice) => {
            const place = placeOfNotice(workspace, notice);
            return place && `/${workspace.id}/${place}`;
          }}
          onGo={close}
        />
      )}
    </Tray>
  );
}

function Shown({
  withDismissed,
  ...rest
}: { readonly withDismissed: boolean } & Omit<Parameters<typeof NoticeList>[0], "notices">) {
  const { notices, error, retry } = useNotices(withDismissed);
  if (error) return <Failure error={error} onRetry={retry} />;
  if (notices === undefined) return <p className="py-4 text-muted">Loading …</p>;
  if (notices.length === 0) return <p className="py-4 text-muted">Nothing needs you.</p>;
  return <NoticeList notices={notices} {...rest} />;
}
