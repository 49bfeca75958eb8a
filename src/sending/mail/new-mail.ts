/** Mail that is not stored as a campaign: content that is being written, and the steps of autoresponders. */
import type { StoredMail } from "./mail-content.ts";

/** The sender of content that has none yet. */
export const SAMPLE_SENDER = "sender@example.com";

/** Without content, sender and audience. */
export const newMail: Omit<StoredMail, "id"> = {
  name: "",
  message_type: "email",
  phone_field_name: null,
  subject: "",
  html_content: null,
  text_content: null,
  from_email: SAMPLE_SENDER,
  from_name: null,
  reply_to: null,
  enable_open_tracking: null,
  enable_click_tracking: null,
  use_custom_headers: false,
  custom_headers: null,
  url_domain_id: null,
  sender_email: null,
  recipient_type: "mailing_list",
  mailing_list_id: null,
  segment_id: null,
  segment_conditions: null,
  attachments: [],
};
