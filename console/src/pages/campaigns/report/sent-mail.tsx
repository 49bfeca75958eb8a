/** A mail of the report in a frame of a height of its own. */
import type { Schema } from "@posthaste/client";
import { MailPreview } from "../../../parts/mail-preview.tsx";

interface Props {
  readonly title: string;
  /** Undefined until it is rendered. */
  readonly mail: Schema<"RenderedMail"> | undefined;
}

export function SentMail({ title, mail }: Props) {
  return (
    <div className="h-[560px] overflow-hidden rounded-panel border border-line">
      {mail && <MailPreview title={title} mail={mail} />}
    </div>
  );
}
