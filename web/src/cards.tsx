// The three choices of an answer: the cheapest, the balanced and the fastest.
import { money, percent, time } from './format';
import { choices, machinesText, type Choice } from './plan_answer';
import type { Plan } from './types.gen';

function Card({ plan, choice }: { plan: Plan; choice: Choice }) {
  const { point } = choice;
  const whole = plan.total_of === 'job';
  const scale = whole ? point.total_s / point.time_s : 1;
  const sure = point.low_s !== null && point.high_s !== null ? `${time(point.low_s * scale)} to ${time(point.high_s * scale)}` : 'not known';
  return (
    <li class={'card choice' + (choice.recommended ? ' chosen' : '')}>
      <h2>{choice.name}{choice.recommended ? <span class="tag">recommended</span> : null}</h2>
      <p class="rent">{machinesText(plan, point)}</p>
      <dl>
        <div><dt>{whole ? 'Time' : 'Iteration'}</dt><dd class="big">{time(whole ? point.total_s : point.time_s)}</dd></div>
        <div><dt>Cost</dt><dd class="big">{point.cost === null ? 'no price is known' : money(point.cost)}</dd></div>
        <div><dt>How sure</dt><dd>{sure} ({percent(plan.level)})</dd></div>
        {point.meets === null ? null : <div><dt>Limits</dt><dd>met with {percent(point.meets)}</dd></div>}
      </dl>
    </li>
  );
}

export function Cards({ plan }: { plan: Plan }) {
  const shown = choices(plan);
  if (!shown.length) return null;
  return <ul class="choices3" aria-label="Choices">{shown.map((choice) => <Card key={choice.name} plan={plan} choice={choice} />)}</ul>;
}
