/** The SMS beside the editor, made by the code that sends: as a person, with the number and how many SMS it takes. */
import type { Schema } from "@posthaste/client";
import { counted } from "../../../parts/numbers.ts";
import { PersonChoice, RenderFault } from "./preview-pane.tsx";
import type { Rendering } from "./use-render.ts";

/** @param person the id of a subscriber, or `SAMPLE` */
export function SmsPreview({
  rendering: { mail, error, isStale, again },
  person,
  onPerson,
}: {
  readonly rendering: Rendering & { readonly again: () => void };
  readonly person: string;
  readonly onPerson: (person: string) => void;
}) {
  return (
    <section aria-label="Preview" className="flex h-full min-h-0 flex-col border-line bg-sunken lg:border-l">
      <div className="shrink-0 border-b border-line bg-surface px-4 py-2">
        <PersonChoice person={person} onPerson={onPerson} />
      </div>
      <div aria-busy={isStale} className="relative min-h-0 flex-1 overflow-auto p-4">
        {mail && (
          <>
            <p className="w-fit max-w-80 rounded-panel bg-surface px-4 py-3 text-[15px] leading-6 break-words whitespace-pre-wrap shadow-overlay">
              {mail.text === "" ? <span className="text-muted">No text</span> : mail.text}
            </p>
            {mail.sms && (
              <p className="mt-3 text-muted">
                {smsSizeText(mail.sms)}, counting links as they will be sent.{" "}
                {mail.sms.to === null
                  ? `${mail.person.subscriber_id === null ? "A sample person" : mail.person.email} has no valid number.`
                  : `To ${mail.sms.to}.`}
              </p>
            )}
          </>
        )}
        {error !== undefined && <RenderFault error={error} onRetry={again} />}
      </div>
    </section>
  );
}

/** `2 SMS with 170 characters in GSM-7` */
export function smsSizeText({ parts, characters, alphabet }: Schema<"SmsSize">): string {
  return `${counted(parts, "SMS", "SMS")} with ${counted(characters, "character")} in ${alphabet}`;
}
