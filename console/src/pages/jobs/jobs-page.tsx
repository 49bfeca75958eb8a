export function JobsPage() {
  return null;
}
