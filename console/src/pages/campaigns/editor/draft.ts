/** What the editor changes of a campaign, and what is kept of it on this device. */
import type { Body, Data, Posthaste } from "@posthaste/client";
import { del, get, set } from "idb-keyval";
import type { LocalCopy, Places, SetAside } from "./autosave-state.ts";

export type Campaign = Data<"getCampaign">;
/** All fields that a change may have, but those that follow from others and those of other ways to write the content. */
export type Draft = Pick<
  Campaign,
  Exclude<
    keyof Body<"updateCampaign">,
    "recipient_type" | "message_type" | "design" | "mjml" | "template_id" | "template_version"
  >
>;

/** Every field with the name that people see. */
export const fieldNames: Readonly<Record<keyof Draft, string>> = {
  name: "Name",
  subject: "Subject",
  from_email: "From address",
  from_name: "From name",
  reply_to: "Reply to",
  phone_field_name: "Number field",
  mailing_list_id: "List",
  segment_id: "Segment",
  segment_conditions: "Conditions",
  html_content: "HTML",
  text_content: "Text",
  enable_open_tracking: "Open tracking",
  enable_click_tracking: "Click tracking",
  url_domain_id: "Tracking domain",
  use_custom_headers: "Use of own headers",
  custom_headers: "Own headers",
  virtual_mta_ip: "Sending IP",
  routing_rule_id: "Routing rule",
  bounce_email: "Copies of bounces",
  sender_email: "Return path",
  scheduled_at: "Time",
  attachments: "Attachments",
};

const names = Object.keys(fieldNames) as (keyof Draft)[];

export function draftOf(campaign: Campaign): Draft {
  return Object.fromEntries(names.map((name) => [name, campaign[name]])) as unknown as Draft;
}

/** Empty text means that the field has none. */
export function textOrNull(text: string): string | null {
  return text === "" ? null : text;
}

/** The service and this device as the places where a draft is saved. */
export function placesOf(api: Posthaste, id: string): Places<Draft> {
  const local = `draft ${id}`;
  const aside = `draft ${id} set aside`;
  return {
    save: async (change, revision) => {
      const saved = await api.updateCampaign({
        id,
        body: bodyOf(change),
        query: { without: "content" },
        headers: { "If-Match": `"${revision}"` },
        retries: 0,
      });
      return saved.revision;
    },
    current: async () => {
      const campaign = await api.getCampaign({ id, query: { without: "attachments" } });
      return { draft: draftOf(campaign), revision: campaign.revision };
    },
    readLocal: () => get<LocalCopy<Draft>>(local),
    writeLocal: (copy) => (copy ? set(local, copy) : del(local)),
    readAside: () => get<SetAside<Draft>>(aside),
    writeAside: (version) => set(aside, version),
  };
}

function bodyOf({ attachments, ...change }: Partial<Draft>): Body<"updateCampaign"> {
  return {
    ...change,
    ...(attachments && { attachments: attachments.map(({ size: _size, ...file }) => file) }),
  } as Body<"updateCampaign">;
}

/** A new campaign with what was written. Files whose content is not on this device are left out. */
export function copyBodyOf({ message_type }: Campaign, draft: Draft): Body<"createCampaign"> {
  const attachments = draft.attachments.filter(({ content }) => content !== "");
  return { ...bodyOf({ ...draft, attachments }), message_type } as Body<"createCampaign">;
}
