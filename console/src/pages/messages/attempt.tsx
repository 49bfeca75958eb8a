/** One attempt: the server, the address it was made from, the encryption, and who said what. */
import type { Schema } from "@posthaste/client";
import { Fact, Facts } from "../../parts/facts.tsx";
import { useZone } from "../../parts/time.tsx";
import type { TimelineEntry } from "./use-message.ts";

type Line = Schema<"ConversationLine">;

export function Attempt({ entry }: { readonly entry: TimelineEntry }) {
  const { mx_host, source_ip, tls, code, enhanced_code, conversation } = entry;
  return (
    <div className="mt-1 mb-2 rounded border border-line p-3 text-table">
      <Facts>
        {mx_host && <Fact name="Server">{mx_host}</Fact>}
        {source_ip && <Fact name="From">{source_ip}</Fact>}
        {tls && <Fact name="Encryption">{encryptionText(tls)}</Fact>}
        {code !== null && <Fact name="Reply">{[code, enhanced_code].filter(Boolean).join(" ")}</Fact>}
      </Facts>
      {conversation && <Conversation lines={conversation} />}
    </div>
  );
}

function encryptionText(tls: Schema<"TlsNote">): string {
  if (tls.version === null) return tls.clear_text_reason ?? "None: the message went in clear text";
  const parts = [
    tls.version.replace(/^TLSv/, "TLS "),
    tls.cipher,
    tls.verified ? "certificate verified" : "certificate not verified",
    tls.policy && `${tls.policy}${tls.policy_met === false ? " not met" : ""}`,
  ];
  return parts.filter(Boolean).join(" · ");
}

/** Who speaks: the letter that protocols are written with, and the whole word for screen readers. */
const speakers: Readonly<Record<Line["from"], readonly [letter: string, word: string, tone: string]>> = {
  client: ["C", "This service", "text-accent"],
  server: ["S", "The server", "text-good"],
  connection: ["·", "The connection", "text-muted"],
};

function Conversation({ lines }: { readonly lines: readonly Line[] }) {
  const zone = useZone();
  const clock = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
    timeZone: zone,
  });
  return (
    <section aria-label="SMTP conversation" className="mt-3">
      <p className="mb-1 text-small text-muted">Times in {zone}</p>
      <ol className="font-mono text-small">
        {lines.map(({ time, from, text }, index) => {
          const [letter, word, tone] = speakers[from];
          return (
            <li
              key={`${time} ${index.toString()}`}
              className="flex gap-2 border-t border-line/60 py-1 max-sm:flex-wrap"
            >
              <time dateTime={time} className="shrink-0 text-muted max-sm:w-full">
                {clock.format(new Date(time))}
              </time>
              <span className={`w-3 shrink-0 text-center font-semibold ${tone}`}>
                <span aria-hidden>{letter}</span>
                <span className="sr-only">{word}:</span>
              </span>
              <span className={`min-w-0 flex-1 break-words ${from === "connection" ? "text-muted" : ""}`}>
                {text}
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
