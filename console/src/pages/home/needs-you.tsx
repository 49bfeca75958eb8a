/** What needs a hand, the worst first. */
import { useNotices } from "../../api/notices.ts";
import { usePlace } from "../../api/session.tsx";
import { Failure } from "../../parts/failure.tsx";
import { NoticeList } from "../../parts/notice-list.tsx";
import { Panel } from "../../parts/page.tsx";
import { placeOfNotice } from "../../shell/places.ts";

export function NeedsYou() {
  const { workspace } = usePlace();
  const { notices, error, retry } = useNotices(false);
  return (
    <Panel title="Needs you">
      {error ? (
        <Failure error={error} onRetry={retry} />
      ) : notices === undefined ? (
        <div className="h-5 w-48 animate-appear rounded bg-sunken" />
      ) : notices.length === 0 ? (
        <p className="text-muted">All quiet.</p>
      ) : (
        <NoticeList
          notices={notices}
          hrefOf={(notice) => {
            const place = placeOfNotice(workspace, notice);
            return place && `/${workspace.id}/${place}`;
          }}
        />
      )}
    </Panel>
  );
}
