/** The mail as it stands in a list of mails: sender, subject, and the beginning of its text. */
import type { Data } from "@posthaste/client";

interface Props {
  readonly campaign: Data<"getCampaign">;
  /** Undefined until the check has rendered the mail. */
  readonly subject: string | undefined;
  readonly previewText: string | undefined;
}

export function InboxRow({ campaign, subject, previewText }: Props) {
  const { from_name, from_email } = campaign;
  return (
    <section aria-label="In an inbox" className="rounded-panel border border-line bg-canvas px-4 py-3">
      <p className="flex items-baseline gap-2">
        <span className="truncate font-semibold">{from_name ?? from_email}</span>
        {from_name && <span className="truncate text-small text-muted">{from_email}</span>}
      </p>
      <p className="truncate">{subject ?? campaign.subject}</p>
      <p className="min-h-5 truncate text-muted">{previewText}</p>
    </section>
  );
}
