/** The message as its recipient got it: the mail itself, its text, its header fields, and its source as a file. */
import type { Data } from "@posthaste/client";
import { PosthasteError } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { ReactNode } from "react";
import { usePlace } from "../../api/session.tsx";
import { Fact, Facts } from "../../parts/facts.tsx";
import { Failure } from "../../parts/failure.tsx";
import { MailFrame } from "../../parts/mail-frame.tsx";
import { countText } from "../../parts/numbers.ts";
import { Time } from "../../parts/time.tsx";

type Content = Data<"getMessageContent">;

/** The answer says why there is nothing to show: the content is gone, secret, or was never made. */
const EXPLAINED = new Set([403, 409, 410]);

function WithContent({
  id,
  children,
}: {
  readonly id: string;
  readonly children: (content: Content) => ReactNode;
}) {
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["message-content", workspace.id, id],
    queryFn: ({ signal }) => api.getMessageContent({ id, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error instanceof PosthasteError && EXPLAINED.has(error.status ?? 0)) {
    return <p className="py-6 text-muted">{error.message}</p>;
  }
  if (error) return <Failure error={error} onRetry={() => refetch()} />;
  if (!data) return <div className="h-64 animate-appear rounded bg-sunken" />;
  return children(data);
}

export function MessagePreview({ id }: { readonly id: string }) {
  return (
    <WithContent id={id}>
      {({ html, attachments, is_rebuilt, expires_at }) => (
        <>
          {html === null ? (
            <p className="py-4 text-muted">The message has no HTML part. Its text is in the next tab.</p>
          ) : (
            <MailFrame html={html} title="The message as HTML" />
          )}
          <p className="mt-2 text-small text-muted">
            Links and pictures of other servers are switched off, because they count as acts of the recipient.
            {is_rebuilt && " The message is composed again from what is kept, by the code that sends."}
            {expires_at && (
              <>
                {" "}
                Its content is kept until <Time at={expires_at} isPrecise />.
              </>
            )}
          </p>
          {attachments.length > 0 && (
            <ul className="mt-3 border-t border-line" aria-label="Files">
              {attachments.map(({ filename, content_type, size }, index) => (
                <li
                  key={`${filename} ${index.toString()}`}
                  className="flex gap-3 border-b border-line/60 py-1.5"
                >
                  <span className="min-w-0 flex-1 truncate">{filename}</span>
                  <span className="text-muted">
                    {content_type} · {countText(Math.ceil(size / 1_024))} kB
                  </span>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </WithContent>
  );
}

export function MessageText({ id }: { readonly id: string }) {
  return (
    <WithContent id={id}>
      {({ text }) =>
        text === null ? (
          <p className="py-4 text-muted">The message has no text part.</p>
        ) : (
          <pre className="font-mono text-small break-words whitespace-pre-wrap">{text}</pre>
        )
      }
    </WithContent>
  );
}

export function MessageHeaders({ id }: { readonly id: string }) {
  return (
    <WithContent id={id}>
      {({ headers, authentication }) => (
        <>
          <Facts>
            <Fact name="SPF">
              <span className="break-all whitespace-normal">
                {authentication.return_path} {alignedText(authentication.spf_aligned)}
              </span>
            </Fact>
            <Fact name="DKIM">
              {authentication.dkim_domain === null
                ? "not signed"
                : `${authentication.dkim_domain}, selector ${authentication.dkim_selector} ${alignedText(authentication.dkim_aligned)}`}
            </Fact>
          </Facts>
          <dl className="mt-4 border-t border-line font-mono text-small">
            {headers.map(({ name, value }, index) => (
              <div
                key={`${name} ${index.toString()}`}
                className="gap-3 border-b border-line/60 py-1.5 sm:grid sm:grid-cols-[140px_minmax(0,1fr)]"
              >
                <dt className="text-muted">{name}</dt>
                <dd className="break-words whitespace-pre-wrap">{value}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </WithContent>
  );
}

function alignedText(isAligned: boolean): string {
  return isAligned ? "(aligned with From)" : "(not aligned with From)";
}

export function MessageSource({ id }: { readonly id: string }) {
  const { workspace } = usePlace();
  return (
    <WithContent id={id}>
      {({ size }) => (
        <>
          <p className="text-muted">
            The whole message, {countText(size)} bytes, as a file that mail programs open.
          </p>
          <a
            href={`/api/v1/messages/${id}/source?workspace=${workspace.id}`}
            download={`${id}.eml`}
            className="mt-3 inline-flex h-8 items-center gap-1.5 rounded-control border border-control/60 px-3 font-medium hover:bg-sunken"
          >
            <Download size={15} aria-hidden /> Download the source
          </a>
        </>
      )}
    </WithContent>
  );
}
