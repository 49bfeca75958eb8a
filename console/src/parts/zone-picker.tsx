/** A time zone, found by typing a city or a country's part of its name. */
import { useState } from "react";
import type { Option } from "./choice.tsx";
import { Picker } from "./picker.tsx";

const MOST_SHOWN = 50;
const zones = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];

interface Props {
  readonly label: string;
  readonly hint?: string;
  readonly name?: string;
  readonly value: string;
  readonly onChange: (zone: string) => void;
}

export function ZonePicker({ label, hint, name, value, onChange }: Props) {
  const [text, setText] = useState("");
  const words = text.toLowerCase();
  const found = zones.filter((zone) => textOf(zone).toLowerCase().includes(words)).slice(0, MOST_SHOWN);
  // Browsers list one name of a zone that has several.
  if (found.length === 0 && isZone(text)) found.push(text);
  const shown = words !== "" || found.includes(value) ? found : [value, ...found];
  return (
    <Picker
      label={label}
      {...(hint !== undefined && { hint })}
      {...(name !== undefined && { name })}
      options={shown.map(optionOf)}
      value={value}
      onChange={onChange}
      onText={setText}
    />
  );
}

function isZone(text: string): boolean {
  try {
    return Intl.DateTimeFormat("en", { timeZone: text }) !== undefined;
  } catch {
    return false;
  }
}

/** "America/New York" */
function textOf(zone: string): string {
  return zone.replaceAll("_", " ");
}

function optionOf(zone: string): Option {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    timeZoneName: "longOffset",
  }).formatToParts();
  const offset = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  return { id: zone, name: textOf(zone), description: offset };
}
