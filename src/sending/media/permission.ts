/** The permission to see and manage pictures of mail. */
import type { Resource } from "#platform/http/endpoint.ts";

export const media: Resource = {
  name: "media",
  label: "Media",
  group: "Sending",
  about:
    "Pictures that mail shows: uploaded, written again without hidden data, and served under the tracking domain.",
};
