import { expect, it } from "vitest";
import document from "../../../../openapi.json" with { type: "json" };
import { booleanKind } from "./boolean-kind.ts";
import { campaignKind } from "./campaign-kind.ts";
import { multiselectKind, selectKind } from "./choice-kind.ts";
import { dateKind } from "./date-kind.ts";
import { numberKind } from "./number-kind.ts";
import { mailingListKind, segmentKind } from "./reference-kinds.ts";
import { statusKind } from "./status-kind.ts";
import { textKind } from "./text-kind.ts";

const { SegmentRule, SegmentConditions } = document.components.schemas;

it("the API reference has every operator once, with the type of its value", () => {
  const kinds = [
    textKind,
    numberKind,
    dateKind,
    booleanKind,
    selectKind,
    multiselectKind,
    statusKind,
    segmentKind,
    mailingListKind,
    campaignKind,
  ];
  const known = new Set(kinds.flatMap(({ operators }) => [...operators.keys()]));
  expect(Object.keys(SegmentRule.discriminator.mapping).toSorted()).toEqual([...known].toSorted());
});

it("a group of rules in the API reference has conditions, and groups of its own form", () => {
  expect(SegmentConditions.properties.rules.items.anyOf.map(({ $ref }) => $ref)).toEqual([
    "#/components/schemas/SegmentRule",
    "#/components/schemas/SegmentConditions",
  ]);
});
