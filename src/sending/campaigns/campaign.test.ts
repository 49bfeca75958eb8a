import { expect, test } from "vitest";
import { NewCampaign } from "./campaign.ts";

test.each(Object.entries<{ readonly description?: string }>(NewCampaign.properties))(
  "the reference says what %s is",
  (_name, { description }) => {
    expect(description).toMatch(/\w/);
  },
);
