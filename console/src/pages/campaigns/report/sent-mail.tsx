/** A mail of the report in a frame of a height of its own. */
import { MailPreview } from "../../../parts/mail-preview.tsx";

export function SentMail({ title, url }: { readonly title: string; readonly url: string | undefined }) {
  return (
    <div className="h-[560px] overflow-hidden rounded-panel border border-line">
      {url !== undefined && <MailPreview title={title} url={url} />}
    </div>
  );
}
