#include "value.h"
#define LIMIT VALUE
