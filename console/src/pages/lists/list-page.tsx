export function MailingListPage() {
  return null;
}
