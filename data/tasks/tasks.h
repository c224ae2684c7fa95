#pragma once

#include <heed/data/registry.h>

namespace heed {

// heed's own tasks, each in a file of its name beside this one.

TaskInfo reverse_task();         ///< heed train reverse
TaskInfo sort_task();            ///< heed train sort
TaskInfo addition_task();        ///< heed train addition
TaskInfo modular_task();         ///< heed train modular
TaskInfo induction_task();       ///< heed train induction
TaskInfo markov_task();          ///< heed train markov
TaskInfo trigger_task();         ///< heed train trigger
TaskInfo recall_task();          ///< heed train recall
TaskInfo selective_copy_task();  ///< heed train selective-copy
TaskInfo dyck_task();            ///< heed train dyck
TaskInfo parity_task();          ///< heed train parity
TaskInfo agreement_task();       ///< heed train agreement

}  // namespace heed
