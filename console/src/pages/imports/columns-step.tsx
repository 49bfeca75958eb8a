/** Step 2: which field each column is for. The service suggests, the person decides. */
import { useState } from "react";
import { useFields } from "../../api/fields.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Choice, type Option } from "../../parts/choice.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Switch } from "../../parts/toggle.tsx";
import { FieldDialog } from "../lists/field-dialog.tsx";
import { delimiterWords, sizeText } from "./file-words.ts";
import { FirstRows } from "./first-rows.tsx";
import { EMAIL, mayRepeat, NEW_FIELD, targetOf, targetsOf, targetsOfColumns } from "./targets.ts";
import { type FileColumns, type Reading, useFileColumns } from "./use-file-columns.ts";

interface Props {
  readonly listId: string;
  readonly file: File;
  readonly reading: Reading;
  readonly onReading: (reading: Reading) => void;
  readonly chosen: ReadonlyMap<number, string>;
  readonly onChoose: (position: number, target: string) => void;
  readonly onNext: () => void;
}

type Columns = NonNullable<FileColumns["columns"]>;

export function ColumnsStep(props: Props) {
  const { listId, file, reading } = props;
  const { data, error, refetch } = useFileColumns(listId, file, reading);
  if (error) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) return <Waiting />;
  return data.columns ? (
    <Mapping {...props} columns={data.columns} />
  ) : (
    <NoTable fault={data.fault} {...props} />
  );
}

const SKELETON_ROWS = 5;

function Waiting() {
  return (
    <div aria-busy="true">
      <p className="mb-4 text-muted">The service looks at the columns …</p>
      {Array.from({ length: SKELETON_ROWS }, (_, index) => (
        <div key={String(index)} className="flex h-14 items-center border-t border-line/60">
          <span className="h-3 w-1/2 rounded bg-sunken" />
        </div>
      ))}
    </div>
  );
}

function NoTable({ fault, ...rest }: Props & { readonly fault: string | undefined }) {
  return (
    <div className="flex flex-col gap-4">
      <p role="alert" className="border-l-2 border-bad px-3 py-1 font-medium">
        {fault ?? "This file is not a table that can be read."}
      </p>
      <ReadingForm {...rest} isGuessed />
    </div>
  );
}

function Mapping(props: Props & { readonly columns: Columns }) {
  const { listId, file, reading, columns: seen, chosen, onChoose, onNext } = props;
  const { workspace } = usePlace();
  const fields = useFields(listId);
  const [isAsked, setAsked] = useState(false);
  const [making, setMaking] = useState<Columns["columns"][number]>();
  const options = targetsOf(fields, mayCall(workspace, "createCustomField"));
  const targets = targetsOfColumns(seen.columns, chosen);
  const faults = faultsOf(targets, options);
  const next = () => (faults.general === undefined && faults.repeated.size === 0 ? onNext() : setAsked(true));
  const unlisted = seen.column_count - seen.columns.length;
  return (
    <>
      <p className="mb-4 text-muted">
        <span className="font-medium text-text">{file.name}</span> · {sizeText(file.size)} ·{" "}
        {delimiterWords(seen.delimiter)} · {seen.encoding}
        {seen.is_encoding_guessed && reading.encoding === "" && " (guessed)"} ·{" "}
        {seen.column_count === 1 ? "1 column" : `${seen.column_count} columns`}
      </p>
      <ReadingForm
        {...props}
        encoding={seen.encoding}
        isGuessed={seen.is_encoding_guessed}
        hasHeader={seen.has_header}
      />
      <Remarks file={seen} />
      <FirstRows file={seen} />
      <h3 className="mt-6 mb-2 text-[15px] font-semibold">What each column is for</h3>
      <ul>
        {seen.columns.map((column) => (
          <ColumnRow
            key={column.position}
            column={column}
            hasHeader={seen.has_header}
            target={targets.get(column.position) ?? ""}
            options={options}
            fault={isAsked ? faults.repeated.get(column.position) : undefined}
            onChoose={(target) =>
              target === NEW_FIELD ? setMaking(column) : onChoose(column.position, target)
            }
          />
        ))}
      </ul>
      {unlisted > 0 && (
        <p className="mt-2 text-muted">
          {unlisted} more columns are not shown and not imported, unless they plainly say who gets no mail.
        </p>
      )}
      {isAsked && faults.general && (
        <p role="alert" className="mt-4 text-bad">
          {faults.general}
        </p>
      )}
      <div className="mt-6 flex justify-end">
        <Button kind="primary" onPress={next}>
          Go on to the rules
        </Button>
      </div>
      {making && (
        <FieldDialog
          listId={listId}
          label={seen.has_header ? making.column : ""}
          samples={making.samples}
          onClose={() => setMaking(undefined)}
          onSaved={(field) => onChoose(making.position, targetOf(field))}
        />
      )}
    </>
  );
}

/** What the service says of how the file is read, and why an import that chooses nothing would be refused. */
function Remarks({ file: { warnings, refusal } }: { readonly file: Columns }) {
  return (
    <>
      {refusal !== null && <p className="mb-2 border-l-2 border-bad px-3">{refusal}</p>}
      {warnings.map((text) => (
        <p key={text} className="mb-2 border-l-2 border-warning px-3">
          {text}
        </p>
      ))}
    </>
  );
}

interface RowProps {
  readonly column: Columns["columns"][number];
  readonly hasHeader: boolean;
  readonly target: string;
  readonly options: readonly Option[];
  readonly fault: string | undefined;
  readonly onChoose: (target: string) => void;
}

function ColumnRow({ column, hasHeader, target, options, fault, onChoose }: RowProps) {
  const name = hasHeader ? column.column : `Column ${column.position}`;
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-1 border-t border-line/60 py-2">
      <div className="min-w-0 flex-1 basis-64">
        <p className={`truncate font-medium ${target === "" ? "text-muted" : ""}`}>{name}</p>
        <p className="truncate text-small text-muted">
          {column.samples.length > 0 ? column.samples.join(" · ") : "No values in the first rows"}
        </p>
      </div>
      <div className="w-64 max-sm:w-full">
        <Choice
          label={`${name} is for`}
          isBare
          options={options}
          selectedKey={target}
          onSelectionChange={(id) => onChoose(String(id ?? ""))}
        />
        {fault && (
          <p role="alert" className="mt-1 text-small text-bad">
            {fault}
          </p>
        )}
      </div>
    </li>
  );
}

/** Commonest encodings besides UTF-8; the service reads more, which it finds by itself. */
const encodings = [
  "utf-8",
  "windows-1252",
  "iso-8859-2",
  "windows-1250",
  "windows-1251",
  "koi8-r",
  "macintosh",
  "shift_jis",
  "gb18030",
  "big5",
  "euc-kr",
] as const;

interface ReadingProps extends Pick<Props, "reading" | "onReading"> {
  /** As the service reads the file; undefined where it is no table. */
  readonly encoding?: string;
  readonly isGuessed: boolean;
  /** Undefined where there is no table. */
  readonly hasHeader?: boolean;
}

function ReadingForm({ reading, onReading, encoding, isGuessed, hasHeader }: ReadingProps) {
  const isOpen = isGuessed || reading.encoding !== "";
  return (
    <div className="mb-4 flex flex-col gap-3">
      {hasHeader !== undefined && (
        <Switch isSelected={hasHeader} onChange={(on) => onReading({ ...reading, hasHeader: on })}>
          The first row names the columns
        </Switch>
      )}
      {isOpen && (
        <div className="max-w-md">
          <Choice
            label="Encoding"
            options={[
              { id: "auto", name: encoding === undefined ? "Detect it" : `As guessed: ${encoding}` },
              ...encodings.map((name) => ({ id: name, name })),
            ]}
            selectedKey={reading.encoding || "auto"}
            onSelectionChange={(id) => onReading({ ...reading, encoding: id === "auto" ? "" : String(id) })}
          />
          {reading.encoding === "" && hasHeader !== undefined && (
            <p className="mt-1 text-small text-warning">
              The encoding is a guess. While it is one, names and custom fields of known people stay as they
              are: look at the rows below and choose it.
            </p>
          )}
        </div>
      )}
    </div>
  );
}

/** What keeps the mapping from being used. */
function faultsOf(targets: ReadonlyMap<number, string>, options: readonly Option[]) {
  const places = new Map<string, number[]>();
  for (const [position, target] of targets) places.set(target, [...(places.get(target) ?? []), position]);
  const repeated = Array.from(places).flatMap(([target, positions]) =>
    positions.length < 2 || mayRepeat(target)
      ? []
      : positions.map((position) => {
          const name = options.find(({ id }) => id === target)?.name ?? target;
          return [position, `Two columns are for ${name}. Choose one.`] as const;
        }),
  );
  const general = places.has(EMAIL) ? undefined : "No column is for the email address. Choose which one is.";
  return { general, repeated: new Map(repeated) };
}
