export function SendSheet(_props: {
  readonly campaignId: string;
  readonly onClose: () => void;
  readonly onSent: () => void;
}) {
  return null;
}
