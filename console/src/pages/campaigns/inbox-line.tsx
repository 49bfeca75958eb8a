/** What a list of mails on a phone shows of the mail, as wide as there. */
export function InboxLine({
  from,
  subject,
  preview,
}: {
  readonly from: string;
  readonly subject: string;
  readonly preview: string;
}) {
  return (
    <figure className="flex flex-wrap items-end gap-x-4 gap-y-1">
      <div className="w-[343px] max-w-full rounded-control border border-line bg-canvas px-3 py-2">
        <p className="truncate font-semibold">{from}</p>
        <p className="truncate">{subject || <span className="text-muted">No subject</span>}</p>
        <p className="h-5 truncate text-muted">{preview}</p>
      </div>
      <figcaption className="max-w-44 max-sm:hidden text-small text-muted">
        In the inbox of a phone. The third line is the beginning of the mail.
      </figcaption>
    </figure>
  );
}
