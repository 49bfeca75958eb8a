/** The value of a rule, in the form that its operator takes. */
import { useState } from "react";
import { useCampaignLinks } from "../../api/campaign-links.ts";
import { useLists } from "../../api/lists.ts";
import { useAllSegments } from "../../api/segments.ts";
import { Choice, type Option } from "../choice.tsx";
import { Picker } from "../picker.tsx";
import { BareInput, Texts } from "./controls.tsx";
import type { Field, Operator } from "./draft.ts";
import { useCampaignName, useCampaigns } from "./queries.ts";

interface Props {
  readonly field: Field;
  readonly operator: Operator;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** The segment that is edited, which cannot name itself. */
  readonly ownId?: string | undefined;
}

/** It takes the width that the line has left. */
export function ValueEditor(props: Props) {
  return (
    <div className="flex min-w-0 flex-1 gap-2 *:min-w-0 *:grow">
      <ValueControl {...props} />
    </div>
  );
}

const yesOrNo: readonly Option[] = [
  { id: "true", name: "yes" },
  { id: "false", name: "no" },
];
const day = /^\d{4}-\d{2}-\d{2}$/;

function ValueControl({ field, operator, value, onChange, ownId }: Props) {
  const { type, is_array, max_length, max_items, minimum, maximum } = operator.value;
  const label = `Value of ${field.label}`;
  const text = typeof value === "string" ? value : "";
  const options = field.values?.map((one) => ({ id: one.value, name: one.label }));
  if (is_array) {
    return (
      <Texts
        label={label}
        values={Array.isArray(value) ? value.map(String) : []}
        onChange={onChange}
        mostItems={max_items}
        maxLength={max_length}
        {...(options && { options })}
      />
    );
  }
  switch (type) {
    case "none":
      return null;
    case "boolean":
      return (
        <Choice
          label={label}
          isBare
          options={yesOrNo}
          selectedKey={typeof value === "boolean" ? String(value) : null}
          onSelectionChange={(id) => onChange(id === "true")}
        />
      );
    case "number":
    case "days":
      return (
        <>
          <BareInput
            label={type === "days" ? "Days" : label}
            type="number"
            min={minimum}
            max={maximum}
            value={typeof value === "number" ? String(value) : ""}
            onChange={(typed) => onChange(typed === "" ? undefined : Number(typed))}
          />
          {type === "days" && <span className="max-w-fit self-center text-muted">days</span>}
        </>
      );
    case "date":
      return (
        <BareInput
          label={label}
          type={text === "" || day.test(text) ? "date" : "text"}
          value={text}
          onChange={onChange}
        />
      );
    case "segment":
      return <SegmentPicker label={label} value={text} onChange={onChange} ownId={ownId} />;
    case "mailing_list":
      return <ListPicker label={label} value={text} onChange={onChange} />;
    case "campaign":
      return <CampaignPicker label={label} value={text} onChange={onChange} />;
    case "campaign_link":
      return <LinkPicker value={value} onChange={onChange} />;
    default:
      return options ? (
        <Choice
          label={label}
          isBare
          options={
            options.some(({ id }) => id === text) || text === ""
              ? options
              : [...options, { id: text, name: text }]
          }
          selectedKey={text || null}
          onSelectionChange={(id) => onChange(String(id))}
        />
      ) : (
        <BareInput label={label} value={text} onChange={onChange} maxLength={max_length} />
      );
  }
}

interface PickerProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (id: string) => void;
}

function SegmentPicker({ ownId, ...rest }: PickerProps & { readonly ownId: string | undefined }) {
  const { data = [] } = useAllSegments();
  const options = data
    .filter(({ id }) => id !== ownId)
    .map(({ id, name, mailing_list_name }) => ({ id, name, description: `of ${mailing_list_name}` }));
  return <Picker {...rest} isBare options={options} placeholder="A segment" />;
}

function ListPicker(props: PickerProps) {
  const options = (useLists() ?? []).map(({ id, name }) => ({ id, name }));
  return <Picker {...props} isBare options={options} placeholder="A mailing list" />;
}

function CampaignPicker(props: PickerProps) {
  const [words, setWords] = useState("");
  const { data } = useCampaigns(words);
  const name = useCampaignName(props.value);
  const options = (data?.campaigns ?? []).map((one) => ({
    id: one.id,
    name: one.name,
    description: one.status,
  }));
  const isListed = props.value === "" || options.some(({ id }) => id === props.value);
  return (
    <Picker
      {...props}
      isBare
      options={
        isListed || name === undefined ? options : [...options, { id: props.value, name, description: "" }]
      }
      onText={setWords}
      placeholder="A campaign"
    />
  );
}

/** A link is named by its campaign and its place in it. */
function LinkPicker({
  value,
  onChange,
}: {
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) {
  const { campaign_id = "", link } = (value ?? {}) as {
    readonly campaign_id?: string;
    readonly link?: number;
  };
  const { data = [] } = useCampaignLinks(campaign_id);
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-1.5">
      <CampaignPicker
        label="Campaign of the link"
        value={campaign_id}
        onChange={(id) => id !== campaign_id && onChange({ campaign_id: id })}
      />
      {campaign_id !== "" && (
        <Choice
          label="Link"
          isBare
          options={data.map(({ index, url }) => ({ id: String(index), name: url }))}
          selectedKey={link === undefined ? null : String(link)}
          onSelectionChange={(id) => onChange({ campaign_id, link: Number(id) })}
        />
      )}
    </div>
  );
}
