// Three concurrent bulks of 100 checks about 100 subjects of 10,000 grants each, none of them cached.

import { runAttack } from '../attacker/attack-run.ts';
import { askColdBulks } from '../attacker/cold-questions.ts';

runAttack((target, run) => askColdBulks(target, run, 3));
