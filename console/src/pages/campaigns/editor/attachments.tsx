/** The files in every mail of the campaign; images may be shown within the HTML. */
import { Paperclip, Trash2 } from "lucide-react";
import { useState } from "react";
import { FileTrigger } from "react-aria-components";
import { usePlace } from "../../../api/session.tsx";
import { Button, IconButton } from "../../../parts/button.tsx";
import { Copyable } from "../../../parts/copyable.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { say } from "../../../parts/live-region.ts";
import { offerUndo } from "../../../parts/undo.tsx";
import type { Draft } from "./draft.ts";
import type { OpenDraft } from "./use-draft.ts";

type File64 = Draft["attachments"][number];

const size = new Intl.NumberFormat("en", { style: "unit", unit: "kilobyte", maximumFractionDigits: 0 });

export function Attachments({ campaign, draft: { attachments }, edit }: OpenDraft) {
  const { api } = usePlace();
  const [error, setError] = useState<unknown>();
  /** The editor is opened without the content of files, but a change needs all of it. */
  const whole = async () =>
    attachments.every(({ content }) => content !== "")
      ? attachments
      : (await api.getCampaign({ id: campaign.id })).attachments;
  const change = async (next: (files: readonly File64[]) => Promise<File64[]> | File64[]) => {
    setError(undefined);
    try {
      edit({ attachments: await next(await whole()) });
    } catch (fault) {
      setError(fault);
    }
  };
  const add = (files: FileList | null) =>
    change(async (known) => {
      const read = await Promise.all(Array.from(files ?? [], readFile));
      say(`${read.map(({ filename }) => filename).join(", ")} attached`);
      return [...known, ...read];
    });
  const remove = (index: number) =>
    change((known) => {
      const { filename } = known[index] as File64;
      offerUndo(`${filename} is removed`, () => edit({ attachments: [...known] }));
      return known.filter((_, at) => at !== index);
    });
  const toggleInline = (index: number) =>
    change((known) =>
      known.map((file, at) => {
        if (at !== index) return file;
        return file.disposition === "inline"
          ? { ...file, disposition: "attachment" as const, content_id: null }
          : { ...file, disposition: "inline" as const, content_id: contentIdOf(file.filename) };
      }),
    );
  return (
    <>
      {attachments.length === 0 && (
        <p className="mb-3 text-muted">
          Files go with every mail. A link to a file keeps the mail small and can be tracked.
        </p>
      )}
      <ul>
        {attachments.map((file, index) => (
          <li
            key={`${file.filename} ${index.toString()}`}
            className="flex min-h-11 flex-wrap items-center gap-3 border-b border-line/60 py-1"
          >
            <span className="min-w-0 flex-1 truncate">
              {file.filename}
              <span className="ml-2 text-muted">{size.format(Math.ceil(file.size / 1_000))}</span>
            </span>
            {file.content_id && <Copyable text={`cid:${file.content_id}`} label="address for the HTML" />}
            {file.content_type.startsWith("image/") && (
              <Button kind="quiet" onPress={() => void toggleInline(index)}>
                {file.disposition === "inline" ? "Attach as a file" : "Show in the HTML"}
              </Button>
            )}
            <IconButton
              label={`Remove ${file.filename}`}
              icon={<Trash2 size={15} aria-hidden />}
              onPress={() => void remove(index)}
            />
          </li>
        ))}
      </ul>
      {error !== undefined && <Failure error={error} />}
      <div className="mt-3">
        <FileTrigger allowsMultiple onSelect={(files) => void add(files)}>
          <Button>
            <Paperclip size={15} aria-hidden /> Attach files
          </Button>
        </FileTrigger>
      </div>
    </>
  );
}

function contentIdOf(filename: string): string {
  return filename.toLowerCase().replace(/[^a-z0-9.]+/g, "-");
}

function readFile(file: File): Promise<File64> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error ?? new Error("The file cannot be read."));
    reader.onload = () =>
      resolve({
        filename: file.name,
        content: (reader.result as string).replace(/^[^,]*,/, ""),
        content_type: file.type || "application/octet-stream",
        disposition: "attachment",
        content_id: null,
        size: file.size,
      });
    reader.readAsDataURL(file);
  });
}
