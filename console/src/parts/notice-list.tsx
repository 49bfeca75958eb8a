/** Notices: what happened and what to do, with the way to what each is about. */
import type { Schema } from "@posthaste/client";
import { Link } from "@tanstack/react-router";
import { useAct } from "../api/act.ts";
import { mayCall, usePlace } from "../api/session.tsx";
import { Button } from "./button.tsx";
import { Failure } from "./failure.tsx";
import type { Look } from "./state-mark.tsx";
import { Time } from "./time.tsx";
import { offerUndo } from "./undo.tsx";

type Notice = Schema<"Notice">;

const looks: Readonly<Record<Notice["severity"], Look>> = {
  critical: { shape: "▲", tone: "text-bad" },
  warning: { shape: "▲", tone: "text-warning" },
  info: { shape: "●", tone: "text-info" },
};

interface Props {
  readonly notices: readonly Notice[];
  readonly hrefOf: (notice: Notice) => string | undefined;
  readonly onGo?: () => void;
}

export function NoticeList({ notices, ...rest }: Props) {
  return (
    <ul>
      {notices.map((notice) => (
        <NoticeRow key={notice.id} notice={notice} {...rest} />
      ))}
    </ul>
  );
}

function NoticeRow({ notice, hrefOf, onGo }: Omit<Props, "notices"> & { readonly notice: Notice }) {
  const { api, workspace } = usePlace();
  const { id, severity, title, message, since, dismissed_at, dismissed_by } = notice;
  const changes = ["notices"];
  const restore = useAct({
    run: () => api.restoreNotice({ id }),
    changes,
    done: "The notice is shown again",
  });
  const dismiss = useAct({
    run: () => api.dismissNotice({ id }),
    changes,
    done: "The notice is dismissed",
    onDone: () => offerUndo("The notice is dismissed for everyone", () => restore.mutate()),
  });
  const href = hrefOf(notice);
  const act = dismissed_at === null ? dismiss : restore;
  return (
    <li className="flex items-start gap-3 border-b border-line/60 py-3 last:border-0">
      <span className={`${looks[severity].tone} text-[10px] leading-5`}>
        <span aria-hidden>{looks[severity].shape}</span>
        <span className="sr-only">{severity}</span>
      </span>
      <div className="min-w-0 flex-1">
        <p className="font-medium break-words">
          {href ? (
            <Link to={href} {...(onGo && { onClick: onGo })} className="hover:underline">
              {title}
            </Link>
          ) : (
            title
          )}
        </p>
        <p className="text-muted break-words">{message}</p>
        <p className="text-small text-muted">
          {since && <Time at={since} />}
          {dismissed_by && ` · dismissed by ${dismissed_by}`}
        </p>
        {act.error && <Failure error={act.error} />}
      </div>
      {mayCall(workspace, "dismissNotice") && (
        <Button
          kind="quiet"
          aria-label={`${dismissed_at === null ? "Dismiss" : "Restore"}: ${title}`}
          onPress={() => act.mutate()}
          isPending={act.isPending}
        >
          {dismissed_at === null ? "Dismiss" : "Restore"}
        </Button>
      )}
    </li>
  );
}
