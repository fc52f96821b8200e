// é🙂
import React from "react";

interface Props { order: string }

export function Refund({ order }: Props) {
  const onClick = () => {
    send(order);
  };
  return <button onClick={onClick}>Refund {/* é */ order}</button>;
}

export const List: React.FC<Props> = ({ order }) => (
  <ul>
    <li>{order}</li>
  </ul>
);

class Till extends React.Component<Props> {
  render() {
    return <Refund order={this.props.order} />;
  }
}
