/** A campaign's SMS to one recipient: its text with their values. There is no footer and nothing is tracked. */
import type { SmsContent } from "#delivery/message/message.ts";
import type { CompiledContent } from "#sending/content/compile.ts";
import { type RecipientValues, renderContent, unfitValues } from "#sending/content/render.ts";

/** @throws UnfitValues when these do not fit the template: the message fails */
export function writeSms(
  content: CompiledContent,
  to: string,
  values: RecipientValues,
  links: Parameters<typeof renderContent>[2],
): SmsContent {
  const rendered = renderContent(content, values, links);
  if (!rendered.ok) throw unfitValues(rendered.fault);
  return { to, text: (rendered.text ?? "").trim() };
}
