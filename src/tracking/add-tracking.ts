/** Adds tracked links and the open pixel to HTML that is rendered already (transactional mail). */
import type { TrackHtml } from "#delivery/compose/assemble-mime.ts";
import { trackHtml } from "#mail/merge-tags/tracked-links.ts";
import { mailLinks } from "./link-tokens.ts";

export const trackMail: TrackHtml = (html, mail, { base, key }) =>
  trackHtml(html, mailLinks(mail, base, key));
