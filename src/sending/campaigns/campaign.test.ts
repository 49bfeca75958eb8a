import { expect, test } from "vitest";
import { NewCampaign } from "./campaign.ts";

test.each(Object.entries(NewCampaign.properties))("the reference says what %s is", (_name, shape) => {
  expect("description" in shape ? shape.description : undefined).toMatch(/\w/);
});
