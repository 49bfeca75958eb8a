/** Whether an address may be mailed, and everything that keeps mail away from it, with the way to remove each. */
import { Link } from "@tanstack/react-router";
import { usePlace } from "../../api/session.tsx";
import type { Block, Finding } from "../../api/suppression.ts";
import { Time } from "../../parts/time.tsx";
import { PlaceLink } from "../../shell/place-link.tsx";
import { RemoveEntry } from "./remove-entry.tsx";

export function FindingSentence({ finding }: { readonly finding: Finding }) {
  const { may_be_mailed, mailing_lists, summary } = finding;
  const isWhole = may_be_mailed && mailing_lists.every((one) => one.may_be_mailed);
  const look = isWhole
    ? { shape: "●", tone: "text-good" }
    : may_be_mailed
      ? { shape: "◐", tone: "text-warning" }
      : { shape: "■", tone: "text-bad" };
  return (
    <p className="flex min-w-0 items-baseline gap-2">
      <span aria-hidden className={`text-[10px] leading-none ${look.tone}`}>
        {look.shape}
      </span>
      <span className="min-w-0 break-words">{summary}.</span>
    </p>
  );
}

export function Blocks({ blocks }: { readonly blocks: readonly Block[] }) {
  return (
    <ul className="flex flex-col gap-3">
      {blocks.map((block) => (
        <BlockRow key={block.entry_id} block={block} />
      ))}
    </ul>
  );
}

function BlockRow({ block }: { readonly block: Block }) {
  const { workspace } = usePlace();
  const { suppression_list_id, suppression_list_name, entry_id, entry_value, reason, cause } = block;
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 rounded-control bg-sunken px-4 py-3">
      <div className="min-w-0 flex-1 basis-64">
        <p className="break-words">
          {entry_value} is on{" "}
          <Link to={`/${workspace.id}/suppression/${suppression_list_id}`} className="text-accent underline">
            {suppression_list_name}
          </Link>
        </p>
        <p className="text-small text-muted">
          {reason.replaceAll("_", " ")} · since <Time at={block.created_at} isPrecise /> · by{" "}
          {block.created_by} · keeps away {scopeText(block)}
        </p>
        {cause && (
          <div className="mt-1.5 text-small">
            <p>
              <PlaceLink to={`messages/${cause.message_id}`} className="text-accent underline">
                {cause.subject || "Message without a subject"}
              </PlaceLink>{" "}
              <span className="text-muted">
                {[cause.mx_host, cause.smtp_code, cause.enhanced_code].filter(Boolean).join(" · ")}
              </span>
            </p>
            {cause.detail && <p className="mt-1 font-mono break-words text-muted">{cause.detail}</p>}
          </div>
        )}
      </div>
      <RemoveEntry
        entry={{
          listId: suppression_list_id,
          listName: suppression_list_name,
          entryId: entry_id,
          value: entry_value,
          reason,
          warning: block.removal_warning,
        }}
      />
    </li>
  );
}

const scopes: Readonly<Record<Block["suppression_scope"], string>> = {
  global: "all mail",
  mailing_list: "mail to one mailing list",
  segment: "campaigns to one segment",
};

export function scopeText({ suppression_scope }: Pick<Block, "suppression_scope">): string {
  return scopes[suppression_scope];
}
