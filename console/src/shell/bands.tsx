/** What holds on every page: mail stays on this machine, the workspace is suspended, nothing leaves or nothing more can be sent, or live states have stopped. */

import type { Schema } from "@posthaste/client";
import { Link } from "@tanstack/react-router";
import { useLiveLost } from "../api/live.ts";
import { useNotices } from "../api/notices.ts";
import { usePlace } from "../api/session.tsx";
import { useSignInWays } from "../api/sign-in-ways.ts";
import { InboxLink } from "../parts/inbox-link.tsx";
import { Time } from "../parts/time.tsx";
import { placeOfNotice } from "./places.ts";

/** The notices that stop all sending. */
const stops: ReadonlySet<Schema<"Notice">["kind"]> = new Set([
  "sending_held",
  "no_delivery_process",
  "allowance_used_up",
  "balance_used_up",
]);

export function Bands() {
  const { workspace } = usePlace();
  const { notices = [] } = useNotices(false);
  const lostSince = useLiveLost(workspace.id);
  const { data: ways } = useSignInWays();
  return (
    <section aria-label="State of the service">
      {ways?.captures_mail && (
        <p className="border-b border-line bg-sunken px-6 py-2 max-md:px-4 text-muted">
          Mail stays on this machine: it is in the <InboxLink className="underline">inbox</InboxLink>.
        </p>
      )}
      {lostSince && (
        <p role="status" className="border-b border-line bg-sunken px-6 py-2 max-md:px-4 text-muted">
          The connection for live updates is lost. What you see is as of <Time at={lostSince} isPrecise />.
        </p>
      )}
      {workspace.is_suspended && (
        <p role="status" className="border-b border-line bg-bad/10 px-6 py-2 max-md:px-4 text-bad">
          This workspace is suspended: it can be read, but nothing is sent or changed until the operator
          resumes it.
        </p>
      )}
      {notices
        .filter(({ kind }) => stops.has(kind))
        .map((notice) => (
          <p
            key={notice.id}
            role="status"
            className="border-b border-line bg-warning/10 px-6 py-2 max-md:px-4 text-warning"
          >
            <Band notice={notice} />
          </p>
        ))}
    </section>
  );
}

function Band({ notice }: { readonly notice: Schema<"Notice"> }) {
  const { workspace } = usePlace();
  const place = placeOfNotice(workspace, notice);
  return (
    <>
      <span className="font-medium">{notice.title}</span> {notice.message}{" "}
      {place && (
        <Link to={`/${workspace.id}/${place}`} className="underline">
          Open
        </Link>
      )}
    </>
  );
}
